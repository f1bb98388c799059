import type { Metrics } from '../../base/metrics.ts';
import { rejectionLabel } from './rejection.ts';

/** The metrics of admission. */
export interface AdmissionMetrics {
  rejected(reason: string): void;
  /** A pod was preempted because a critical one is short of this resource. */
  preempted(resource: string): void;
}

export function admissionMetrics(metrics: Metrics): AdmissionMetrics {
  const rejections = metrics.counter({
    name: 'kubelet_admission_rejections_total',
    help: 'Pods that were not admitted, by reason.',
    stability: 'ALPHA',
    labels: ['reason'],
  });
  const preemptions = metrics.counter({
    name: 'kubelet_preemptions',
    help: 'Pods that were preempted for critical ones, by the resource that was short.',
    stability: 'ALPHA',
    labels: ['preemption_signal'],
  });
  return {
    rejected: (reason) => rejections.inc({ reason: rejectionLabel(reason) }),
    preempted: (resource) => preemptions.inc({ preemption_signal: resource }),
  };
}
