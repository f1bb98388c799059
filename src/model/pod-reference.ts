import type { PodUid } from '../base/ids.ts';

/** Which object is meant, where its kind is known. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Which pod is meant, also where nothing else is known of it. */
export interface PodReference extends NamespacedName {
  readonly uid: PodUid;
}
