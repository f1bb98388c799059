import { startReasons } from './reasons.ts';

/** A container cannot be made as its pod asks for. The text is what a user reads in the container's waiting state. */
export interface Refusal {
  readonly refusal: { readonly reason: typeof startReasons.createContainerConfigError; readonly message: string };
}

export function refuse(message: string): Refusal {
  return { refusal: { reason: startReasons.createContainerConfigError, message } };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refusal' in value;
}
