import { isCriticalPod, podQos } from '../../../model/qos.ts';
import { podReasons } from '../../../model/reasons.ts';
import { tolerates } from '../tolerations.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

const memoryPressure = 'MemoryPressure';
const memoryTaint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/**
 * A node under pressure admits critical pods only. Under memory pressure alone it also admits pods with requests, because
 * those are evicted last.
 */
export function evictionPressure({ pod, node }: AdmissionInput): PodAdmitResult {
  const { pressure } = node;
  if (pressure.length === 0 || isCriticalPod(pod)) return admitted;
  if (pressure.every((condition) => condition === memoryPressure)) {
    if (podQos(pod) !== 'BestEffort' || tolerates(pod.spec.tolerations, memoryTaint)) return admitted;
  }
  return rejected(podReasons.evicted, `The node had condition: [${pressure.join(' ')}]. `);
}
