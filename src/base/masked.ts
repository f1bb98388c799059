import { inspect } from 'node:util';

const mask = '<masked>';

/**
 * A value that must not appear in logs, errors or dumps. However it is printed, by itself or inside something else, a
 * mask stands there; only `reveal` gives it away, so the places that use it can be found.
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
