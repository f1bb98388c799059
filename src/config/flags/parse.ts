import { messageOf } from '../../base/errors.ts';
import { nearest } from '../../base/nearest.ts';
import type { FlagSpec, FlagType, FlagValues } from './spec.ts';
import { flagTable, type FlagName } from './table.ts';
import { flagReaders } from './values.ts';

export type FlagValue = FlagValues[FlagType];

export interface ParsedFlags {
  /** The flags that were given, with their values, in order of first appearance. */
  readonly values: ReadonlyMap<FlagName, FlagValue>;
  /** All faults of the command line. */
  readonly faults: readonly string[];
}

type Spec = FlagSpec & { readonly name: FlagName };

const byName: ReadonlyMap<string, Spec> = new Map(flagTable.map((spec) => [spec.name, spec]));
const byShorthand: ReadonlyMap<string, Spec> = new Map(
  flagTable.flatMap((spec): (readonly [string, Spec])[] => {
    const shorthand = shorthandOf(spec.name);
    return shorthand === undefined ? [] : [[shorthand, spec]];
  }),
);

export function shorthandOf(name: string): string | undefined {
  return { help: 'h', v: 'v' }[name];
}

/** Parses a command line as the kubelet does; never throws, and continues after a fault to find them all. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const parser = new FlagParser(argv);
  parser.run();
  return { values: parser.values, faults: parser.faults };
}

class FlagParser {
  readonly values = new Map<FlagName, FlagValue>();
  readonly faults: string[] = [];
  readonly #argv: readonly string[];
  #at = 0;
  /** The preceding boolean or unknown flag: the word behind it may have been meant as its value. */
  #justBare: { readonly flag: string; readonly known: boolean } | undefined;

  constructor(argv: readonly string[]) {
    this.#argv = argv;
  }

  run(): void {
    for (let word = this.#take(); word !== undefined; word = this.#take()) {
      const before = this.#justBare;
      this.#justBare = undefined;
      if (word === '--') {
        for (let rest = this.#take(); rest !== undefined; rest = this.#take()) this.#positional(rest, undefined);
      } else if (word.startsWith('--')) {
        this.#long(word);
      } else if (word.startsWith('-') && word.length > 1) {
        this.#short(word);
      } else {
        this.#positional(word, before);
      }
    }
  }

  #take(): string | undefined {
    const word = this.#argv[this.#at];
    if (word !== undefined) this.#at++;
    return word;
  }

  #long(word: string): void {
    const body = word.slice(2);
    const equals = body.indexOf('=');
    const written = equals === -1 ? body : body.slice(0, equals);
    if (written === '' || written.startsWith('-')) {
      this.faults.push(`bad flag syntax: ${word}`);
      return;
    }
    const spec = byName.get(written.replaceAll('_', '-'));
    if (spec === undefined) {
      const known = nearest(written, byName.keys());
      this.faults.push(`unknown flag: --${written}${known === undefined ? '' : `, did you mean --${known}?`}`);
      if (equals === -1) this.#justBare = { flag: `--${written}`, known: false };
      return;
    }
    if (equals !== -1) {
      this.#set(spec, body.slice(equals + 1));
      return;
    }
    const { bare } = flagReaders[spec.type];
    if (bare === undefined) {
      this.#setNext(spec, `--${spec.name}`);
      return;
    }
    this.#set(spec, bare);
    this.#justBare = { flag: `--${spec.name}`, known: true };
  }

  /** A group of one-letter flags; the first with a value takes the rest of the word, or the next word. */
  #short(word: string): void {
    for (let at = 1; at < word.length; at++) {
      const letter = word.charAt(at);
      const spec = byShorthand.get(letter);
      if (spec === undefined) {
        this.faults.push(`unknown shorthand flag: '${letter}' in ${word}`);
        return;
      }
      const rest = word.slice(at + 1);
      const { bare } = flagReaders[spec.type];
      if (rest.startsWith('=')) {
        this.#set(spec, rest.slice(1));
        return;
      }
      if (bare === undefined) {
        if (rest === '') this.#setNext(spec, `'${letter}' in ${word}`);
        else this.#set(spec, rest);
        return;
      }
      this.#set(spec, bare);
    }
  }

  #setNext(spec: Spec, place: string): void {
    const value = this.#take();
    if (value === undefined) this.faults.push(`flag needs an argument: ${place}`);
    else this.#set(spec, value);
  }

  #set(spec: Spec, text: string): void {
    try {
      // The table ties the type of a flag to the type of its value; the map cannot express that.
      const read = flagReaders[spec.type].read as (text: string, before: FlagValue | undefined) => FlagValue;
      this.values.set(spec.name, read(text, this.values.get(spec.name)));
    } catch (error) {
      const letter = shorthandOf(spec.name);
      const flag = letter === undefined ? `--${spec.name}` : `-${letter}, --${spec.name}`;
      this.faults.push(`invalid argument ${JSON.stringify(text)} for "${flag}" flag: ${messageOf(error)}`);
    }
  }

  #positional(word: string, before: { readonly flag: string; readonly known: boolean } | undefined): void {
    // The word behind an unknown flag is most likely its value; one fault is enough.
    if (before?.known === false) return;
    const hint = before === undefined ? '' : `; to give ${before.flag} a value write ${before.flag}=${word}`;
    this.faults.push(`unknown command ${JSON.stringify(word)}: only flags are expected here${hint}`);
  }
}
