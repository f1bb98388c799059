import type { Metrics, Reading } from '../../base/metrics.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import type { PodUid } from '../../base/ids.ts';
import type { WorkerState } from '../../pods/worker/index.ts';

export interface PodMetricsDeps {
  readonly metrics: Metrics;
  /** What the sources want. */
  readonly desired: () => readonly DesiredPod[];
  readonly workers: { uids(): readonly PodUid[]; stateOf(uid: PodUid): WorkerState | undefined };
  /** States of all sandboxes and containers by pod, as the runtime was last seen. */
  readonly listed: () => ReadonlyMap<PodUid, { readonly items: readonly { readonly state: string }[] }>;
  /** Mirrors of static pods at the API server; none without one. */
  readonly mirrorPods?: () => number;
}

const stability = 'ALPHA';
const containerStates = ['created', 'running', 'exited', 'unknown'] as const;
const lifecycles = ['sync', 'terminating', 'terminated'] as const;
/** Each with how much is known about the pods being static. */
const configs = [
  ['desired', ''],
  ['desired', 'true'],
  ['orphan', ''],
  ['orphan', 'true'],
  ['runtime_only', 'unknown'],
] as const;

/** How many pods and containers there are, asked of those who know when somebody looks. */
export function podMetrics({ metrics, desired, workers, listed, mirrorPods }: PodMetricsDeps): void {
  const bySource = (pods: readonly DesiredPod[]): readonly Reading<'static'>[] => {
    const count = pods.filter(isStatic).length;
    return [
      { labels: { static: '' }, value: pods.length - count },
      { labels: { static: 'true' }, value: count },
    ];
  };
  const gauge = { type: 'gauge', stability } as const;
  const isActive = ({ uid }: DesiredPod): boolean => workers.stateOf(uid)?.phase !== 'finished';
  metrics.observed(
    { ...gauge, name: 'kubelet_desired_pods', help: 'Pods that sources want.', labels: ['static'] },
    () => bySource(desired()),
  );
  metrics.observed(
    {
      ...gauge,
      name: 'kubelet_active_pods',
      help: 'Pods that sources want and that have not ended.',
      labels: ['static'],
    },
    () => bySource(desired().filter(isActive)),
  );
  metrics.observed(
    {
      ...gauge,
      name: 'kubelet_working_pods',
      help: 'Pods that workers care for, by lifecycle and by who wants them.',
      labels: ['lifecycle', 'config', 'static'],
    },
    () => workingPods(workers),
  );
  metrics.observed({ ...gauge, name: 'kubelet_mirror_pods', help: 'Mirrors of static pods.' }, () => [
    { labels: {}, value: mirrorPods?.() ?? 0 },
  ]);
  metrics.observed({ ...gauge, name: 'kubelet_running_pods', help: 'Pods with a sandbox that is ready.' }, () => {
    const running = [...listed().values()].filter(({ items }) => items.some(({ state }) => state === 'sandbox ready'));
    return [{ labels: {}, value: running.length }];
  });
  metrics.observed(
    { ...gauge, name: 'kubelet_running_containers', help: 'Containers by state.', labels: ['container_state'] },
    () => {
      const states = [...listed().values()].flatMap(({ items }) => items.map(({ state }) => state));
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
      const count = desired().reduce((sum, { spec }) => sum + (spec.ephemeralContainers ?? []).length, 0);
      return [{ labels: {}, value: count }];
    },
  );
}

function workingPods(workers: PodMetricsDeps['workers']): readonly Reading<'lifecycle' | 'config' | 'static'>[] {
  const found = workers
    .uids()
    .flatMap((uid) => workers.stateOf(uid) ?? [])
    .map(describeWorker);
  return lifecycles.flatMap((lifecycle) =>
    configs.map(([config, isStaticPod]) => ({
      labels: { lifecycle, config, static: isStaticPod },
      value: found.filter((one) => one === `${lifecycle} ${config} ${isStaticPod}`).length,
    })),
  );
}

function describeWorker(state: WorkerState): string {
  if (state.phase === 'waiting' || state.phase === 'syncing') {
    return `sync desired ${isStatic(state.pod) ? 'true' : ''}`;
  }
  const lifecycle = state.phase === 'terminating' ? 'terminating' : 'terminated';
  if (state.target.kind === 'orphan') return `${lifecycle} runtime_only unknown`;
  return `${lifecycle} ${state.dropped ? 'orphan' : 'desired'} ${isStatic(state.target.pod) ? 'true' : ''}`;
}
