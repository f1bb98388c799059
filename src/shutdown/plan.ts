import type { PodUid } from '../base/ids.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { groupOf, type ShutdownGroup } from './compute-groups.ts';

/** A pod that is to end, and the time it is given. */
export interface PlannedPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  readonly graceSeconds: number;
}

/** A group with its pods; the next group begins when all of them have ended, or `seconds` later. */
export interface PlannedGroup extends ShutdownGroup {
  readonly pods: readonly PlannedPod[];
}

type PlannablePod = Pick<DesiredPod, 'uid' | 'namespace' | 'name' | 'spec'>;

/** Which pods end when, in order. A pod has its own grace period, or what its group has, whichever is shorter. */
export function computePlan(groups: readonly ShutdownGroup[], pods: readonly PlannablePod[]): readonly PlannedGroup[] {
  return groups.map(({ priority, seconds }, index) => ({
    priority,
    seconds,
    pods: pods
      .filter(({ spec }) => groupOf(groups, spec.priority) === index)
      .map(({ uid, namespace, name, spec }) => ({
        uid,
        namespace,
        name,
        // A container gets at least one second between the signal and its end.
        graceSeconds: Math.max(1, Math.min(seconds, spec.terminationGracePeriodSeconds ?? seconds)),
      })),
  }));
}

/** The plan for people. Times are the latest: a group begins sooner if those before it end sooner. */
export function planLines(plan: readonly PlannedGroup[]): readonly string[] {
  let from = 0;
  return plan.flatMap(({ priority, seconds, pods }) => {
    const head = `priority ${priority} and above: ${describeSeconds(seconds)}`;
    if (pods.length === 0) return [`${head}, no pods, not waited for`];
    const until = from + seconds;
    const lines = pods.map(({ namespace, name, graceSeconds }) => `  ${namespace}/${name}: ${graceSeconds} s of grace`);
    const when = from === 0 ? `ends at once, by ${until} s` : `ends after at most ${from} s, by ${until} s`;
    from = until;
    return [`${head}, ${when}`, ...lines];
  });
}

function describeSeconds(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
