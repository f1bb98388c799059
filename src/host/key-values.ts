import type { FileParser } from './proc-usage-file.ts';

/**
 * Parses numbers out of pseudo-files, straight from their bytes. A page of usage is made of hundreds of such files:
 * their texts would be much of its garbage, and searching them much of its work.
 */

const [zero, nine] = [0x30, 0x39];
const newline = 0x0a;

/** A file that is one number; undefined for `max` and other words. */
export const asNumber: FileParser<number | undefined> = {
  of(bytes, length) {
    let value = 0;
    let at = 0;
    for (; at < length; at++) {
      const digit = (bytes[at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    return at === 0 ? undefined : value;
  },
};

/** A number on each line, as in cgroup.procs. A process of a foreign namespace is shown as 0 and is left out. */
export const asPids: FileParser<readonly number[]> = {
  of(bytes, length) {
    const pids: number[] = [];
    for (let at = 0, pid = 0; at < length; at++) {
      const code = bytes[at] ?? 0;
      if (code >= zero && code <= nine) pid = pid * 10 + (code - zero);
      else if (code !== newline) pid = Number.NaN;
      if (pid > 0 && (code === newline || at === length - 1)) pids.push(pid);
      if (code === newline) pid = 0;
    }
    return pids;
  },
};

/** The lines of a file without their numbers. */
interface Pattern {
  /** All keys one after the other, each with the space behind it. */
  readonly words: Uint8Array;
  /** By line: the offset at which its key ends in `words`. */
  readonly ends: readonly number[];
  /** By line: the index at which its number is stored; -1 where it is not wanted. */
  readonly places: readonly number[];
}

const nowhere = -1;

/** The numbers of a file of lines `<key> <number>`, each at its index. */
export interface KeyValues {
  at(place: number): number | undefined;
}

/**
 * Parses such files, which a kernel writes for every cgroup with the same keys in the same order: numbers are expected
 * where they were in the previous file. A file with another pattern is parsed key by key, and its pattern is expected
 * next. There is one set of numbers, which the next file overwrites.
 */
export class KeyValueParser<K extends string> implements FileParser<KeyValues>, KeyValues {
  /** The index of each key's number: hundreds of files are asked for a dozen each, so keys are resolved once. */
  readonly places: Readonly<Record<K, number>>;
  readonly #wanted: ReadonlyMap<string, number>;
  readonly #figures: Float64Array;
  #pattern: Pattern = { words: new Uint8Array(), ends: [], places: [] };

  constructor(wanted: readonly K[]) {
    this.#wanted = new Map(wanted.map((key, place) => [key, place]));
    this.places = Object.fromEntries(this.#wanted) as Record<K, number>;
    this.#figures = new Float64Array(wanted.length);
  }

  at(place: number): number | undefined {
    const figure = this.#figures[place];
    return Number.isNaN(figure) ? undefined : figure;
  }

  of(bytes: Buffer, length: number): KeyValues {
    if (!this.#readByPattern(bytes, length)) this.#learn(bytes.toString('latin1', 0, length));
    return this;
  }

  /** False where the file has another pattern; the numbers read until then are invalid. */
  #readByPattern(bytes: Buffer, length: number): boolean {
    const { words, ends, places } = this.#pattern;
    const figures = this.#figures.fill(Number.NaN);
    let at = 0;
    let word = 0;
    for (let line = 0; line < ends.length; line++) {
      for (const end = ends[line] ?? 0; word < end; word++, at++) if (bytes[at] !== words[word]) return false;
      const start = at;
      let value = 0;
      let code = bytes[at] ?? 0;
      for (; code >= zero && code <= nine; code = bytes[++at] ?? 0) value = value * 10 + (code - zero);
      if (code !== newline || at === start) return false;
      at++;
      const place = places[line] ?? nowhere;
      if (place !== nowhere) figures[place] = value;
    }
    // The buffer still holds bytes of the previous file behind the end of this one.
    return at === length && length > 0;
  }

  #learn(text: string): void {
    this.#figures.fill(Number.NaN);
    const keys = new Set<string>();
    const [ends, places]: [number[], number[]] = [[], []];
    let words = '';
    for (const line of text.split('\n')) {
      const { key = '', digits = '' } = /^(?<key>\S+) *(?<digits>\d*)/.exec(line)?.groups ?? {};
      // Of two lines with one key the first counts.
      const place = keys.has(key) ? nowhere : (this.#wanted.get(key) ?? nowhere);
      keys.add(key);
      if (place !== nowhere && digits !== '') this.#figures[place] = Number(digits);
      words += `${key} `;
      ends.push(words.length);
      places.push(place);
    }
    // The last line feed ends a line and starts none.
    this.#pattern = { words: Buffer.from(words, 'latin1'), ends: ends.slice(0, -1), places: places.slice(0, -1) };
  }
}
