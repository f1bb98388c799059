import { cutText } from '../base/cut-text.ts';
import { startReasons } from './reasons.ts';

/** A container cannot be created as its pod asks for. The message goes into the container's waiting state. */
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

/** Why a container cannot be started now, for its waiting state. */
export interface StartRefusal {
  readonly reason: string;
  readonly message: string;
  /** When to retry; unset where only a change of the pod can help. */
  readonly retryMs?: number;
}

export type Refusable<T> = { readonly ok: T } | { readonly refusal: StartRefusal };

/** Why the last start of a container failed, for its waiting state. */
export interface StartError {
  readonly reason: string;
  readonly message: string;
  /** The status shows the error at once: the agent itself killed the container, so its end need not be shown first. */
  readonly atOnce?: true;
}

/** Why a resize of a pod is not carried out. */
export interface ResizeRefusal {
  readonly reason: string;
  readonly message: string;
  /** The generation of the pod that asks for it. */
  readonly generation: number | undefined;
}
