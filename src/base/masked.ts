import { inspect } from 'node:util';

/** Printed in place of a masked value. */
export const mask = '<masked>';

/**
 * A value that must not appear in logs, errors or dumps. However it is printed, by itself or inside another value, a
 * mask is printed instead; only `reveal` returns it, so that its uses can be found.
 */
export class Masked<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}

/** An address without the user part, which may hold a password; also where it stands within a longer text. */
export function maskAddress(text: string): string {
  return text.replace(/(\w:\/\/)[^/?#\s]*@/g, `$1${mask}@`);
}
