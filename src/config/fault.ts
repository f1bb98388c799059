import { describeOrigin, type Origin } from './origin.ts';

/** An error or a warning about one field. */
export interface Fault {
  /** Dotted path of the field. */
  readonly field: string;
  /** What is wrong with which value, and how to correct it. */
  readonly message: string;
  /** Where the value was written, unless it is a default. */
  readonly origin?: Origin;
}

/** `file:line: field: message`, `--flag: field: message`, or without an origin for a default. */
export function renderFault({ field, message, origin }: Fault): string {
  const place = origin === undefined || origin.kind === 'default' ? '' : `${describeOrigin(origin)}: `;
  return `${place}${field === '' ? '' : `${field}: `}${message}`;
}

/** A value for a message: short, on one line. */
export function quote(value: unknown): string {
  const text =
    JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? item.toString() : item)) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
