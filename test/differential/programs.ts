import type { Container, ContainerStateTerminated, ContainerStatus, Probe } from '../../src/gen/kubernetes/types.ts';
import { containerEvents } from '../../src/model/event-reasons.ts';
import type { Behaviour, ExecOutcome } from '../../src/testing/fake-cri/index.ts';
import type { GoldenCall, GoldenRecord } from '../../src/testing/golden.ts';

/**
 * What the recorded containers did, read out of the record: how each instance ended, whether it had to be stopped, what
 * probes were answered. Times are not in the records; they follow from the `sleep`s in the commands.
 */
export interface Script {
  /** What an instance does, and the termination message it leaves. */
  program(container: string, attempt: number): { readonly behaviour: Behaviour; readonly terminationMessage?: string };
  /** How a command in a container ends that has run for so long. */
  command(container: string, command: readonly string[], ranMs: number): ExecOutcome;
  /** Whether a server in the container answers by now. */
  serves(container: string, ranMs: number): boolean;
}

export function scriptOf(record: GoldenRecord): Script {
  const instances = instancesOf(record.cri);
  return {
    program(container, attempt) {
      const instance = instances.find((one) => one.name === container && one.attempt === attempt);
      const end = endsOf(record, container).get(attempt);
      return {
        behaviour: behaviourOf(instance, end, busyMs(containerNamed(record, container)?.command)),
        ...(end?.message !== undefined && end.reason !== 'StartError' && { terminationMessage: end.message }),
      };
    },
    command(container, command, ranMs) {
      const output = probeFailure(record, container, command);
      const startsUpMs = busyMs(containerNamed(record, container)?.command);
      // One that never comes up says so for as long as it is asked.
      const fails = output !== undefined && (startsUpMs === 0 || ranMs < startsUpMs);
      return fails ? { exitCode: 1, stdout: output } : { takesMs: busyMs(command) };
    },
    serves: (container, ranMs) => ranMs >= busyMs(containerNamed(record, container)?.command),
  };
}

interface Instance {
  readonly name: string;
  readonly attempt: number;
  readonly startFailure: string | undefined;
  readonly wasStopped: boolean;
}

/** Ids are numbered in the order in which the runtime gave them out; calls that failed got none. */
function instancesOf(calls: readonly GoldenCall[]): readonly Instance[] {
  const about = (id: string, verb: string): GoldenCall | undefined =>
    calls.find((call) => call.verb === verb && call.request['containerId'] === id);
  const givers = calls.filter(
    ({ verb, error }) => /^(RunPodSandbox|CreateContainer)$/.test(verb) && error === undefined,
  );
  return givers.flatMap(({ verb, request }, number): readonly Instance[] => {
    if (verb !== 'CreateContainer' || request.config === undefined) return [];
    const { name, attempt = 0 } = request.config.metadata;
    const id = `{{id${number}}}`;
    const startFailure = about(id, 'StartContainer')?.error?.message;
    return [{ name, attempt, startFailure, wasStopped: about(id, 'StopContainer') !== undefined }];
  });
}

/** How the instances of a container ended, by their number, as far as a status showed it. */
function endsOf(record: GoldenRecord, name: string): ReadonlyMap<number, ContainerStateTerminated> {
  const ends = new Map<number, ContainerStateTerminated>();
  const ofContainer = record.statuses
    .flatMap((status) => [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
    .filter((status) => status.name === name);
  for (const { state, lastState, restartCount } of ofContainer satisfies readonly ContainerStatus[]) {
    const ended = state?.terminated;
    if (ended !== undefined) ends.set(restartCount, ended);
    const before = lastState?.terminated;
    // While a container waits for its next start, its count is still that of the instance before.
    if (before !== undefined) ends.set(state?.waiting === undefined ? restartCount - 1 : restartCount, before);
  }
  return ends;
}

const plainReasons: ReadonlySet<string> = new Set(['Completed', 'Error']);

function behaviourOf(
  instance: Instance | undefined,
  end: ContainerStateTerminated | undefined,
  busyForMs: number,
): Behaviour {
  if (instance?.startFailure !== undefined)
    return { startFailure: { kind: 'internal', message: instance.startFailure } };
  if (end === undefined) return { onTerm: 'ignore' };
  const { exitCode: code, reason = '' } = end;
  const exit = { code, ...(!plainReasons.has(reason) && { reason }) };
  if (instance?.wasStopped !== true) return { exit: { ...exit, afterMs: busyForMs } };
  // A shell that runs as the first process does not hear SIGTERM: only SIGKILL ends it, as the exit code tells.
  return { onTerm: code === 137 && reason === 'Error' ? 'ignore' : { ...exit, afterMs: 100 } };
}

/** The time a command spends in sleeps that it waits for. */
function busyMs(command: readonly string[] = []): number {
  const sleeps = [...command.join(' ').matchAll(/\bsleep ([\d.]+)(?! *&)\b/g)].map(([, seconds]) => Number(seconds));
  return sleeps.reduce((sum, seconds) => sum + seconds * 1_000, 0);
}

/** What a probe's command printed when it failed; nothing when it never did. */
function probeFailure(record: GoldenRecord, name: string, command: readonly string[]): string | undefined {
  const container = containerNamed(record, name);
  const probes: readonly (readonly [string, Probe | undefined])[] = [
    ['Liveness', container?.livenessProbe],
    ['Readiness', container?.readinessProbe],
    ['Startup', container?.startupProbe],
  ];
  for (const [type, probe] of probes) {
    if (probe?.exec?.command?.join('\0') !== command.join('\0')) continue;
    const prefix = `${type} probe failed: `;
    const event = record.events.find(
      ({ reason, message }) => reason === containerEvents.unhealthy && message.startsWith(prefix),
    );
    if (event !== undefined) return event.message.slice(prefix.length);
  }
  return undefined;
}

function containerNamed({ manifest }: GoldenRecord, name: string): Container | undefined {
  const { containers, initContainers = [] } = manifest.spec ?? { containers: [] };
  return [...initContainers, ...containers].find((container) => container.name === name);
}
