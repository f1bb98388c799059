import type { Metrics, MetricSample } from '../base/metrics.ts';
import { isStatic, type DesiredPod } from '../model/desired-pod.ts';
import type { PodUid } from '../base/ids.ts';

interface PodMetricsDeps {
  readonly metrics: Metrics;
  /** The pods that sources name. */
  readonly desired: { all(): readonly DesiredPod[] };
  readonly activePods: { activePods(): readonly DesiredPod[] };
  readonly lifecycles: { uids(): readonly PodUid[]; stateOf(uid: PodUid): PodLife | undefined };
  /** States of all sandboxes and containers by pod, as the runtime was last seen. */
  readonly mirrors: { fullNames(): readonly string[] };
  readonly observed: { listed(): ReadonlyMap<PodUid, { readonly items: readonly { readonly state: string }[] }> };
}

/** What is counted of a pod's lifecycle. */
type PodLife =
  | { readonly phase: 'waiting' | 'syncing'; readonly pod: DesiredPod }
  | {
      readonly phase: 'terminating' | 'terminated' | 'finished';
      readonly target: { readonly kind: 'desired'; readonly pod: DesiredPod } | { readonly kind: 'orphan' };
      readonly removedFromSource: boolean;
    };

const stability = 'ALPHA';
const containerStates = ['created', 'running', 'exited', 'unknown'] as const;
const lifecycleLabels = ['sync', 'terminating', 'terminated'] as const;
/** Each with how much is known about the pods being static. */
const configs = [
  ['desired', ''],
  ['desired', 'true'],
  ['orphan', ''],
  ['orphan', 'true'],
  ['runtime_only', 'unknown'],
] as const;

/** How many pods and containers there are, counted when a page is asked for. */
export function podMetrics({ metrics, desired, activePods, lifecycles, observed, mirrors }: PodMetricsDeps): void {
  const bySource = (pods: readonly DesiredPod[]): readonly MetricSample<'static'>[] => {
    const count = pods.filter(isStatic).length;
    return [
      { labels: { static: '' }, value: pods.length - count },
      { labels: { static: 'true' }, value: count },
    ];
  };
  const gauge = { type: 'gauge', stability } as const;
  metrics.observed(
    { ...gauge, name: 'kubelet_desired_pods', help: 'Pods that sources want.', labels: ['static'] },
    () => bySource(desired.all()),
  );
  metrics.observed(
    {
      ...gauge,
      name: 'kubelet_active_pods',
      help: 'Pods that sources want and that have not ended.',
      labels: ['static'],
    },
    () => bySource(activePods.activePods()),
  );
  metrics.observed(
    {
      ...gauge,
      name: 'kubelet_working_pods',
      help: 'Pods that workers care for, by lifecycle and by who wants them.',
      labels: ['lifecycle', 'config', 'static'],
    },
    () => workingPods(lifecycles),
  );
  metrics.observed({ ...gauge, name: 'kubelet_mirror_pods', help: 'Mirrors of static pods.' }, () => [
    { labels: {}, value: mirrors.fullNames().length },
  ]);
  metrics.observed({ ...gauge, name: 'kubelet_running_pods', help: 'Pods with a sandbox that is ready.' }, () => {
    const running = [...observed.listed().values()].filter(({ items }) =>
      items.some(({ state }) => state === 'sandbox ready'),
    );
    return [{ labels: {}, value: running.length }];
  });
  metrics.observed(
    { ...gauge, name: 'kubelet_running_containers', help: 'Containers by state.', labels: ['container_state'] },
    () => {
      const states = [...observed.listed().values()].flatMap(({ items }) => items.map(({ state }) => state));
      return containerStates
        .map((state) => ({ labels: { container_state: state }, value: states.filter((one) => one === state).length }))
        .filter(({ value }) => value > 0);
    },
  );
  metrics.observed(
    {
      ...gauge,
      name: 'kubelet_managed_ephemeral_containers',
      help: 'Ephemeral containers of the pods that sources want.',
    },
    () => {
      const count = desired.all().reduce((sum, { spec }) => sum + (spec.ephemeralContainers ?? []).length, 0);
      return [{ labels: {}, value: count }];
    },
  );
}

function workingPods(
  lifecycles: PodMetricsDeps['lifecycles'],
): readonly MetricSample<'lifecycle' | 'config' | 'static'>[] {
  const found = lifecycles
    .uids()
    .flatMap((uid) => lifecycles.stateOf(uid) ?? [])
    .map(describeLife);
  return lifecycleLabels.flatMap((lifecycle) =>
    configs.map(([config, isStaticPod]) => ({
      labels: { lifecycle, config, static: isStaticPod },
      value: found.filter((one) => one === `${lifecycle} ${config} ${isStaticPod}`).length,
    })),
  );
}

function describeLife(state: PodLife): string {
  if ('pod' in state) {
    return `sync desired ${isStatic(state.pod) ? 'true' : ''}`;
  }
  const lifecycle = state.phase === 'terminating' ? 'terminating' : 'terminated';
  if (state.target.kind === 'orphan') return `${lifecycle} runtime_only unknown`;
  return `${lifecycle} ${state.removedFromSource ? 'orphan' : 'desired'} ${isStatic(state.target.pod) ? 'true' : ''}`;
}
