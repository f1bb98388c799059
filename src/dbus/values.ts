import { TubeletError } from '../base/errors.ts';

/**
 * A value as this room hands it around:
 *
 *   y n q i u d  number       b  boolean      h  number, the index of a descriptor sent along
 *   x t          bigint       s o g  string   v  Variant
 *   ay           Uint8Array   a, (…)  array   {…}  array of key and value
 */
export type DBusValue = boolean | number | bigint | string | Uint8Array | Variant | readonly DBusValue[];

/** A value that brings its type along. */
export interface Variant {
  readonly signature: string;
  readonly value: DBusValue;
}

/** Containers within each other, of arrays, structs, entries and variants. */
export const maxDepth = 64;
/** Of a message that is read. What systemd, logind and the bus say to us has a few KiB. */
export const maxMessageBytes = 1 << 20;
/** What the specification allows. */
export const maxSpecifiedBytes = 128 << 20;

/** Bytes that are no message, or values that cannot be one. */
export class MalformedMessage extends TubeletError {
  constructor(message: string) {
    super('invalid', `malformed D-Bus message: ${message}`);
  }
}

/** The text that a value has to be. */
export function textOf(value: DBusValue | undefined): string {
  if (typeof value !== 'string') throw new MalformedMessage('a text is missing');
  return value;
}

/** Elements of a path, of letters, digits and underscores. */
export function isObjectPath(text: string): boolean {
  return /^\/(?:\w+(?:\/\w+)*)?$/.test(text);
}
