import type { PodUid } from '../../base/ids.ts';

/** What the runtime already has, so that a restarted agent does not decide about running pods anew. */
export interface RunningPods {
  hasContainers(uid: PodUid): boolean;
}
