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
