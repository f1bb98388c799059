import type { PodFullName, PodUid } from '../base/ids.ts';
import type { NamespacedName } from './pod-reference.ts';

/** What log fields are made of; a DesiredPod, an API pod's metadata and a sandbox's metadata all have it. */
export interface LoggedPod {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

/** The fields by which a log line names a pod: `pod="ns/name" podUID="…"`. What is unknown is left out. */
export type PodFields = {
  readonly pod?: NamespacedName;
  readonly podUID?: string;
};

/**
 * The fields by which every log line names its pod, so that one search finds all lines about it. A caller that knows only
 * the uid passes `{ uid }`; lines about a container add `containerName`.
 */
export function podFields({ namespace = '', name = '', uid = '' }: LoggedPod): PodFields {
  return { ...(name !== '' && { pod: { namespace, name } }), ...(uid !== '' && { podUID: uid }) };
}

/** The same for a pod of which only the uid is known. */
export function podUidFields(uid: PodUid): PodFields {
  return { podUID: uid };
}

/** The same for a mirror pod of which only the full name is known. */
export function fullNameFields(fullName: PodFullName): PodFields {
  const [name = '', namespace = ''] = fullName.split('_');
  return { pod: { namespace, name } };
}

/** The fields by which a log line names several pods: `pods=["ns/name",…]`. */
export function podListFields(pods: readonly NamespacedName[]): {
  readonly pods: readonly string[];
} {
  return { pods: pods.map(({ namespace, name }) => `${namespace}/${name}`) };
}
