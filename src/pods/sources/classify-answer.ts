import type { DesiredPod } from '../../model/desired-pod.ts';
import { podsToKeep } from './classify-manifest.ts';
import { decodeText, unreadable, type Manifest } from './manifest.ts';

/**
 * What the source knows of its URL.
 *
 *   unread ──a body with pods, or a list of none──> read       unread ──`emptyAnswers` empty bodies in a row──> read
 *   read ────a body with pods, or a list of none──> read       read ──anything else──> read, the same pods
 *
 * While a source is unread, every cleanup of the node waits; one that counts as read too soon would let pods be killed
 * that the URL still names.
 */
export interface UrlState {
  /** The pods of the source; undefined while it is unread. */
  readonly pods: readonly DesiredPod[] | undefined;
  /** The last body that was not empty, and what it held. */
  readonly body: Uint8Array | undefined;
  readonly manifest: Manifest | undefined;
  /** Pods that stay only because the last body was faulty. */
  readonly kept: readonly DesiredPod[];
  /** Empty bodies in a row. */
  readonly empties: number;
}

export const initialUrlState: UrlState = {
  pods: undefined,
  body: undefined,
  manifest: undefined,
  kept: [],
  empties: 0,
};

/** So often an empty body must be repeated to count, and only if there never was another. */
const emptyAnswers = 3;

/** The state after an answer with that body. `read` is asked only for bodies that differ from the last one. */
export function classifyAnswer(state: UrlState, body: Uint8Array, read: (text: string) => Manifest): UrlState {
  if (body.length === 0) {
    const empties = state.empties + 1;
    const pods = state.pods ?? (empties >= emptyAnswers ? [] : undefined);
    return { ...state, pods, empties };
  }
  if (state.body !== undefined && Buffer.compare(state.body, body) === 0) return { ...state, empties: 0 };
  const text = decodeText(body);
  const manifest = text === undefined ? unreadable('it is not UTF-8 text') : read(text);
  const answer = { body, manifest, empties: 0 };
  if (manifest.faults.length === 0) return { ...answer, kept: [], pods: manifest.pods };
  const kept = podsToKeep(state.pods ?? [], manifest.pods);
  // Nothing but faults: an error page, or a list in an unknown form. It does not mean that there are no pods.
  if (manifest.pods.length === 0) return { ...answer, kept, pods: state.pods };
  return { ...answer, kept, pods: [...manifest.pods, ...kept] };
}
