import type { DesiredPod } from '../../model/desired-pod.ts';
import { notRenewed } from './judge-file.ts';
import { decodeText, unreadable, type Manifest } from './manifest.ts';

/**
 * What the source believes about its URL.
 *
 *   silent ──a body with pods, or a list of none──> spoken       silent ──`emptyAnswers` empty bodies in a row──> spoken
 *   spoken ──a body with pods, or a list of none──> spoken       spoken ──anything else──> spoken, the same pods
 *
 * A source that is silent keeps every cleanup of the node waiting; one that speaks too soon lets pods die that the URL
 * still wants.
 */
export interface UrlState {
  /** The pods of the source; undefined while it is silent. */
  readonly pods: readonly DesiredPod[] | undefined;
  /** The last body that was not empty, and what it held. */
  readonly body: Uint8Array | undefined;
  readonly manifest: Manifest | undefined;
  /** Pods that stay only because the last body was faulty. */
  readonly kept: readonly DesiredPod[];
  /** Empty bodies in a row. */
  readonly empties: number;
}

export const nothingKnown: UrlState = { pods: undefined, body: undefined, manifest: undefined, kept: [], empties: 0 };

/** So often an empty body must be repeated to count, and only if there never was another. */
const emptyAnswers = 3;

/** The state after an answer with that body. `read` is asked only for bodies that differ from the last one. */
export function judgeAnswer(state: UrlState, body: Uint8Array, read: (text: string) => Manifest): UrlState {
  if (body.length === 0) {
    const empties = state.empties + 1;
    const pods = state.pods ?? (empties >= emptyAnswers ? [] : undefined);
    return { ...state, pods, empties };
  }
  if (state.body !== undefined && Buffer.compare(state.body, body) === 0) return { ...state, empties: 0 };
  const text = decodeText(body);
  const manifest = text === undefined ? unreadable('it is not UTF-8 text') : read(text);
  const said = { body, manifest, empties: 0 };
  if (manifest.faults.length === 0) return { ...said, kept: [], pods: manifest.pods };
  const kept = notRenewed(state.pods ?? [], manifest.pods);
  // Nothing but faults: an error page, or a list in a form that we do not know. That is not a word about pods.
  if (manifest.pods.length === 0) return { ...said, kept, pods: state.pods };
  return { ...said, kept, pods: [...manifest.pods, ...kept] };
}
