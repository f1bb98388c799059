import { isCriticalPod } from '../../../model/qos.ts';
import { podReasons } from '../../../model/reasons.ts';
import { computePreemption } from '../preemption.ts';
import { computeShortages } from '../shortages.ts';
import { admitted, rejected, type AdmissionInput, type PodAdmitResult } from '../pod-admit-result.ts';

/**
 * The counterpart of the rule on resources for critical pods. It comes after all checks that preemption cannot mend, so
 * that no pod is preempted for one that is rejected anyway.
 */
export function preemption(input: AdmissionInput): PodAdmitResult {
  if (!isCriticalPod(input.pod)) return admitted;
  const shortages = computeShortages(input);
  const [first] = shortages;
  if (first === undefined) return admitted;
  const result = computePreemption(input.pod, input.active, shortages);
  if ('victims' in result) return { admit: 'afterPreempting', victims: result.victims, shortOf: first.resource };
  const list = [...result.stillMissing].map(([resource, amount]) => `(res: ${resource}, q: ${amount}), `).join('');
  return rejected(
    podReasons.unexpectedAdmissionError,
    'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to ' +
      `preempt: no set of running pods found to reclaim resources: [${list}]`,
  );
}
