import { numberBytes, writeNumber } from './number-text.ts';

/** Takes one sample: its labels as `labelText` makes them, and its value; one that nobody knows is left out. */
type Put = (labels: Uint8Array, value: number | undefined) => void;

/** Somebody with figures, all read at the same moment. */
export interface Subject {
  /** What ends a line with a timestamp: ` 1700000000000\n`. */
  readonly stamp: Uint8Array;
}

/** A metric as data: what is said about it, and which samples a subject has of it. */
export interface Family<S extends Subject> {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** Whether samples carry the moment at which they were read. */
  readonly timed: boolean;
  readonly each: (subject: S, put: Put) => void;
}

const nothing = new Uint8Array(0);
export const lineEnd: Uint8Array = Buffer.from('\n');

/**
 * The family in the text format, or nothing at all when nobody has a sample. Bytes and not a string: a page is some
 * megabytes of the same few labels, and to copy their bytes costs a third of what joining strings and encoding them does.
 */
export function familyText<S extends Subject>(family: Family<S>, subjects: readonly S[]): Uint8Array {
  const name = Buffer.from(family.name);
  let bytes: Uint8Array = Buffer.from(`# HELP ${family.name} ${family.help}\n# TYPE ${family.name} ${family.type}\n`);
  let at = bytes.length;
  let stamp = lineEnd;
  let empty = true;
  const put: Put = (labels, value) => {
    // What cannot be a figure would spoil every sum that a reader makes of it.
    if (value === undefined || !Number.isFinite(value)) return;
    const room = at + name.length + labels.length + numberBytes + stamp.length;
    if (room > bytes.length) bytes = grown(bytes, at, Math.max(room * 2, subjects.length * (room - at)));
    bytes.set(name, at);
    at += name.length;
    bytes.set(labels, at);
    at = writeNumber(bytes, at + labels.length, value);
    bytes.set(stamp, at);
    at += stamp.length;
    empty = false;
  };
  for (const subject of subjects) {
    if (family.timed) stamp = subject.stamp;
    family.each(subject, put);
  }
  return empty ? nothing : bytes.subarray(0, at);
}

function grown(bytes: Uint8Array, used: number, size: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(size);
  larger.set(bytes.subarray(0, used));
  return larger;
}

export const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1;

export const stampOf = (at: number): Uint8Array => Buffer.from(` ${Math.round(at)}\n`);

/** `{a="1",b="2"} `, in the order given, ready to stand between a name and a value. */
export const labelText = (pairs: string): Uint8Array => Buffer.from(`{${pairs}} `);

/** What stands for labels where there are none. */
export const noLabels: Uint8Array = Buffer.from(' ');

/** `name="value"`, escaped. */
export function label(name: string, value: string): string {
  return `${name}="${/["\\\n]/.test(value) ? escapeValue(value) : value}"`;
}

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
