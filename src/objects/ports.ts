import type { PodUid } from '../base/ids.ts';
import type { PodSpec } from '../gen/kubernetes/types.ts';

/** What of a pod tells which objects it uses. */
export interface ReferringPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly spec: PodSpec;
}
