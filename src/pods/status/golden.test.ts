import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, sandboxId } from '../../base/ids.ts';
import type { ContainerStateTerminated, ContainerStatus, PodStatus } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import { endReasons, isTerminalPhase, podConditions, startReasons } from '../../model/reasons.ts';
import { goldenNames, goldenPod, loadGolden, type GoldenRecord, type GoldenStatus } from '../../testing/golden.ts';
import { generatePodStatus } from './generate-status.ts';
import { mergeStatus, terminateStatus } from './merge-status.ts';

/**
 * From each recorded status the state of the runtime is derived that led to it; generating and merging must lead back
 * to the same status, with its phase, conditions and messages.
 */
const nowMs = Date.parse('2030-01-02T03:04:05Z');

/** Records without container statuses: refused at admission, before there was anything to observe. */
const refused = ['apparmor', 'os-windows', 'out-of-cpu', 'sysctl-unsafe'];

const names = goldenNames();

test('every record with container statuses is compared', () => {
  const empty = names.filter((name) => recordedStatuses(loadGolden(name)).length === 0);
  assert.deepEqual(empty, refused);
});

for (const name of names.filter((name) => !refused.includes(name))) {
  test(`statuses of ${name}`, () => {
    const record = loadGolden(name);
    let api: PodStatus = goldenPod(record).status;
    let previous: PodStatus | undefined;
    for (const recorded of recordedStatuses(record)) {
      const pod = podAt(record, recorded, api);
      const generated = endedByForce(recorded)
        ? terminateStatus(previous ?? {}, pod.spec)
        : generatePodStatus({ ...inputsOf(pod, recorded), previous });
      previous = generated;
      const couldHaveRunningContainers = !isTerminalPhase(recorded.phase);
      const merged = mergeStatus(api, generated, { spec: pod.spec, couldHaveRunningContainers });
      assert.ok('status' in merged);
      assert.deepEqual(comparable(merged.status), comparable(recorded));
      api = merged.status;
    }
  });
}

/** What the kubelet wrote, without repetitions that only the API server's own changes caused. */
function recordedStatuses(record: GoldenRecord): readonly GoldenStatus[] {
  if (record.mirror !== undefined) return [{ type: 'MODIFIED', ...record.mirror.status }];
  const written = record.statuses.filter((status) => status.containerStatuses !== undefined);
  return written.filter((status, index) => {
    const before = written[index - 1];
    return before === undefined || JSON.stringify(comparable(before)) !== JSON.stringify(comparable(status));
  });
}

function podAt(record: GoldenRecord, recorded: GoldenStatus, status: PodStatus): DesiredPod {
  const pod = goldenPod(record);
  const { observedGeneration: generation } = recorded;
  const metadata = {
    ...pod.metadata,
    ...(generation !== undefined && { generation }),
    ...(recorded.deleting === true && generation === 2 && { deletionTimestamp: '2030-01-02T03:04:00Z' }),
  };
  return { ...pod, metadata, status };
}

/** The last status of a pod whose containers were never made is not observed but concluded. */
function endedByForce(recorded: GoldenStatus): boolean {
  return (recorded.containerStatuses ?? []).some(
    ({ state }) => state?.terminated?.reason === endReasons.containerStatusUnknown,
  );
}

function inputsOf(pod: DesiredPod, recorded: GoldenStatus) {
  const statuses = [...(recorded.initContainerStatuses ?? []), ...(recorded.containerStatuses ?? [])];
  const answer = (field: 'ready' | 'started') => (name: string) =>
    statuses.some((status) => status.name === name && status[field] === true);
  const hasSandbox = recorded.conditions?.some(
    ({ type, status }) => type === podConditions.readyToStartContainers && status === 'True',
  );
  // The deadline is decided while the containers still run: the record then shows failed conditions with a held phase.
  const overdue = pod.name === 'active-deadline' && recorded.conditions?.some(({ reason }) => reason === 'PodFailed');
  return {
    pod,
    observed: observedOf(pod, recorded, statuses, hasSandbox === true),
    startErrors: new Map(statuses.flatMap(startErrorOf)),
    probes: { ready: answer('ready'), started: answer('started') },
    terminal: hasSandbox !== true && statuses.some(({ containerID }) => containerID !== undefined),
    ...(overdue && { decided: deadline }),
    runtimeName: 'containerd',
    hostIps: ['{{hostIP}}'],
    nowMs,
    needsSandbox: hasSandbox !== true,
  };
}

const deadline = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

function startErrorOf({ name, state }: ContainerStatus): [string, { reason: string; message: string }][] {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const plain: readonly string[] = ['', startReasons.containerCreating, startReasons.podInitializing];
  return plain.includes(reason) ? [] : [[name, { reason, message }]];
}

function observedOf(
  pod: DesiredPod,
  recorded: GoldenStatus,
  statuses: readonly ContainerStatus[],
  hasSandbox: boolean,
): ObservedPod {
  const ips = recorded.podIP === undefined || pod.spec.hostNetwork === true ? [] : [recorded.podIP];
  return {
    uid: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    observedAt: 0,
    sandboxes: [
      {
        id: sandboxId('{{id0}}'),
        attempt: 0,
        state: hasSandbox ? 'ready' : 'notReady',
        createdAt: nowMs,
        ips,
        network: pod.spec.hostNetwork === true ? 'node' : 'pod',
        networkKnown: true,
      },
    ],
    containers: statuses.flatMap(instancesOf),
  };
}

/** The instances of a container, newest first, that the status shows. */
function instancesOf(status: ContainerStatus): ObservedContainer[] {
  if (status.containerID === undefined) return [];
  const last = status.lastState?.terminated;
  const older = last === undefined ? [] : [exited(status, last, status.restartCount - 1)];
  if (status.state?.waiting !== undefined) return older.map((entry) => ({ ...entry, attempt: status.restartCount }));
  if (status.state?.terminated !== undefined) {
    return [exited(status, status.state.terminated, status.restartCount), ...older];
  }
  const running: ObservedContainer = {
    ...exited(status, { exitCode: 0, containerID: status.containerID }, status.restartCount),
    state: 'running',
    startedAt: nowMs,
    finishedAt: 0,
  };
  return [running, ...older];
}

function exited(status: ContainerStatus, end: ContainerStateTerminated, attempt: number): ObservedContainer {
  return {
    id: containerId((end.containerID ?? '').replace('containerd://', '')),
    sandboxId: sandboxId('{{id0}}'),
    name: status.name,
    attempt,
    state: 'exited',
    createdAt: nowMs,
    startedAt: end.startedAt?.startsWith('1970') ? 0 : nowMs,
    finishedAt: nowMs,
    exitCode: end.exitCode,
    reason: end.reason ?? '',
    message: end.message ?? '',
    image: status.image,
    imageRef: status.imageID,
    hash: '',
    annotations: {},
    logPath: '',
  };
}

/** Without what the API server or the recorder added, and with times as the records write them. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'string') return /^20\d\d-\d\d-\d\dT[\d:]+Z$/.test(value) ? '{{time}}' : value;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key, entry]) => entry !== null && !isRecorderField(key, entry));
  return Object.fromEntries(kept.map(([key, entry]) => [key, comparable(entry)]));
}

function isRecorderField(key: string, value: unknown): boolean {
  return key === 'deleting' || (key === 'type' && ['ADDED', 'MODIFIED', 'DELETED'].includes(String(value)));
}
