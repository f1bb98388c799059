import type { Metrics } from '../../base/metrics.ts';
import type { ContainerKind } from '../../model/containers.ts';

/** What is started, and what could not be. */
export interface RuntimeMetrics {
  /** A sandbox is about to be made. */
  podStarts(ownUsers: boolean): void;
  podFailed(ownUsers: boolean): void;
  /** A container is about to be created; one in back-off is not. */
  containerStarts(kind: ContainerKind): void;
  containerFailed(kind: ContainerKind, reason: string): void;
  /** The runtime has made a sandbox, or failed to. */
  sandboxRan(handler: string, seconds: number, failed: boolean): void;
  /** An HTTPS hook was sent again in plain HTTP. */
  httpFallback(): void;
  /** A preStop sleep was cut short because the grace period was over. */
  sleepTerminatedEarly(): void;
}

const typeOf: Readonly<Record<ContainerKind, string>> = {
  regular: 'container',
  init: 'init_container',
  ephemeral: 'ephemeral_container',
};

export function runtimeMetrics(metrics: Metrics): RuntimeMetrics {
  const count = (name: string, help: string) => metrics.counter({ name, help, stability: 'ALPHA' });
  const pods = count('kubelet_started_pods_total', 'Sandboxes that were to be started.');
  const podErrors = count('kubelet_started_pods_errors_total', 'Sandboxes that could not be started.');
  const ownUsers = count(
    'kubelet_started_user_namespaced_pods_total',
    'Sandboxes with users of their own that were to be started.',
  );
  const ownUsersErrors = count(
    'kubelet_started_user_namespaced_pods_errors_total',
    'Sandboxes with users of their own that could not be started.',
  );
  const containers = metrics.counter({
    name: 'kubelet_started_containers_total',
    help: 'Containers that were to be started, by type.',
    stability: 'ALPHA',
    labels: ['container_type'],
  });
  const containerErrors = metrics.counter({
    name: 'kubelet_started_containers_errors_total',
    help: 'Containers that could not be started, by type and reason.',
    stability: 'ALPHA',
    labels: ['container_type', 'code'],
  });
  const fallbacks = count(
    'kubelet_lifecycle_handler_http_fallbacks_total',
    'Hooks over HTTPS that were answered, and went on, in plain HTTP.',
  );
  const sleeps = count(
    'kubelet_sleep_action_terminated_early_total',
    'Pauses before the end of a container that were cut short because its grace was over.',
  );
  const sandboxes = metrics.histogram({
    name: 'kubelet_run_podsandbox_duration_seconds',
    help: 'Seconds that the runtime took to make a sandbox, by its handler.',
    stability: 'ALPHA',
    labels: ['runtime_handler'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const sandboxErrors = metrics.counter({
    name: 'kubelet_run_podsandbox_errors_total',
    help: 'Sandboxes that the runtime failed to make, by handler.',
    stability: 'ALPHA',
    labels: ['runtime_handler'],
  });
  return {
    podStarts: (own) => {
      pods.inc();
      if (own) ownUsers.inc();
    },
    podFailed: (own) => {
      podErrors.inc();
      if (own) ownUsersErrors.inc();
    },
    containerStarts: (kind) => containers.inc({ container_type: typeOf[kind] }),
    containerFailed: (kind, code) => containerErrors.inc({ container_type: typeOf[kind], code }),
    sandboxRan: (handler, seconds, failed) => {
      sandboxes.observe(seconds, { runtime_handler: handler });
      if (failed) sandboxErrors.inc({ runtime_handler: handler });
    },
    httpFallback: () => fallbacks.inc(),
    sleepTerminatedEarly: () => sleeps.inc(),
  };
}
