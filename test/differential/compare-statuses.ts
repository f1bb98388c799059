import type { ContainerState, ContainerStatus, PodCondition, PodStatus } from '../../src/gen/kubernetes/types.ts';
import type { GoldenRecord, GoldenStatus } from '../../src/testing/golden.ts';
import { diffLists, diffValues } from './diff.ts';
import type { Replay } from './replay.ts';

/**
 * What the status said one after the other about phase, each condition and each container; and in full the status
 * before the deletion and the last one. Several changes in one write are as good as one write each.
 */
export function compareStatuses(record: GoldenRecord, { statuses, held }: Replay): string[] {
  if (record.mirror !== undefined) return compareWhole('mirror', record.mirror.status, held);
  const recorded = record.statuses.filter(({ startTime }) => startTime !== undefined);
  return [
    ...compareTracks(recorded, statuses),
    ...compareWhole(
      'held',
      recorded.findLast(({ deleting }) => deleting !== true),
      held,
    ),
    ...compareWhole('last', recorded.at(-1), statuses.at(-1)),
  ];
}

function compareTracks(recorded: readonly PodStatus[], ours: readonly PodStatus[]): string[] {
  const was = tracksOf(recorded);
  const is = tracksOf(ours);
  return [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((track) => {
    const { missing, extra } = diffLists(was.get(track) ?? [], is.get(track) ?? []);
    return [...missing.map((text) => `${track} never: ${text}`), ...extra.map((text) => `${track} also: ${text}`)];
  });
}

function tracksOf(statuses: readonly PodStatus[]): ReadonlyMap<string, string[]> {
  const tracks = new Map<string, string[]>();
  const say = (track: string, text: string): void => {
    const said = tracks.get(track) ?? [];
    if (said.at(-1) !== text) said.push(text);
    tracks.set(track, said);
  };
  for (const status of statuses) {
    say('phase', words(status.phase, status.reason, status.message));
    for (const condition of status.conditions ?? []) say(`condition ${condition.type}`, describeCondition(condition));
    for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      say(`container ${container.name}`, describeContainer(container));
    }
  }
  return tracks;
}

function describeCondition({ status, reason, message, observedGeneration }: PodCondition): string {
  return words(status, reason, message, observedGeneration && `generation ${observedGeneration}`);
}

function describeContainer({ state, lastState, ready, started, restartCount }: ContainerStatus): string {
  const flags = [ready && 'ready', started === true && 'started'].filter((flag) => flag !== false).join(' ');
  const last =
    lastState === undefined || Object.keys(lastState).length === 0 ? '' : `before: ${describeState(lastState)}`;
  return words(`#${restartCount}`, describeState(state ?? {}), flags, last);
}

function describeState({ waiting, running, terminated }: ContainerState): string {
  if (waiting !== undefined) return words('waiting', waiting.reason, waiting.message);
  if (terminated !== undefined) return words(`exit ${terminated.exitCode}`, terminated.reason, terminated.message);
  return running === undefined ? 'nothing' : 'running';
}

function words(...parts: readonly unknown[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(', ');
}

function compareWhole(
  what: string,
  recorded: GoldenStatus | PodStatus | undefined,
  ours: PodStatus | undefined,
): string[] {
  const { type: _, deleting: __, ...status } = (recorded ?? {}) as Partial<GoldenStatus>;
  return diffValues(status, ours ?? {}, `${what} status`);
}
