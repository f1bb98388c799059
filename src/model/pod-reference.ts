import type { PodUid } from '../base/ids.ts';

/** Names an object whose kind is known. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Identifies a pod, also where nothing else is known of it. */
export interface PodReference extends NamespacedName {
  readonly uid: PodUid;
}
