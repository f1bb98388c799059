import { cutText } from '../base/cut-text.ts';
import { startReasons } from './reasons.ts';

/** A container cannot be made as its pod asks for. The text is what a user reads in the container's waiting state. */
export interface Refusal {
  readonly refusal: { readonly reason: typeof startReasons.createContainerConfigError; readonly message: string };
}

/** Names and paths in it may be as long as a pod; every watcher of the pod gets a copy. */
const maxRefusalBytes = 4 * 1_024;

export function refuse(message: string): Refusal {
  return { refusal: { reason: startReasons.createContainerConfigError, message: cutText(message, maxRefusalBytes) } };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refusal' in value;
}

/** Why a container cannot be started now, in the words of its waiting state. */
export interface StartRefusal {
  readonly reason: string;
  readonly message: string;
  /** When it is worth another try; unset where only a change of the pod can help. */
  readonly retryMs?: number;
}

export type Refusable<T> = { readonly ok: T } | { readonly refusal: StartRefusal };

/** Why a container could not be started last time: what its waiting state says. */
export interface StartError {
  readonly reason: string;
  readonly message: string;
  /** The status shows the error at once: the agent itself killed the container, so its end is no news. */
  readonly atOnce?: true;
}

/** Why a pod does not get the resources that its spec asks for by now. */
export interface ResizeRefusal {
  readonly reason: string;
  readonly message: string;
  /** The generation of the pod that asks. */
  readonly generation: number | undefined;
}
