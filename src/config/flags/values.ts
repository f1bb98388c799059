import { isIP } from 'node:net';
import { Duration } from '../../base/duration.ts';
import { TubeletError } from '../../base/errors.ts';
import { Quantity } from '../../model/quantity.ts';
import { parseReservedMemory, parseTaints, parseVmodule, splitList } from './compound-values.ts';
import type { FlagType, FlagValues } from './spec.ts';

/** Parses the values of a type of flag. */
interface FlagReader<V> {
  /** Parses one occurrence; `before` is the value of earlier occurrences on the same command line. */
  readonly read: (text: string, before: V | undefined) => V;
  /** The value of the bare flag; types without it always take one. */
  readonly bare?: string;
}

const int32Range = [-(1n << 31n), (1n << 31n) - 1n] as const;
const int64Range = [-(1n << 63n), (1n << 63n) - 1n] as const;
const levelRange = [0n, (1n << 31n) - 1n] as const;

/** The value grammars, one per type of flag. */
export const flagReaders: { readonly [T in FlagType]: FlagReader<FlagValues[T]> } = {
  bool: { read: readBool, bare: 'true' },
  string: { read: (text) => text },
  ip: { read: readIp },
  int: { read: (text) => readInteger(text, int64Range) },
  int32: { read: (text) => readInteger(text, int32Range) },
  level: { read: (text) => readInteger(text, levelRange) },
  duration: { read: (text) => Duration.parse(text) },
  quantity: { read: (text) => Quantity.parse(text) },
  strings: { read: (text, before = []) => [...before, ...splitList(text)] },
  map: { read: (text, before) => ({ ...before, ...readPairs(text.split(','), '=') }) },
  pairMap: { read: (text, before) => ({ ...before, ...readPairs([text], '=') }) },
  angleMap: { read: (text, before) => ({ ...before, ...readPairs(text.split(','), '<') }) },
  labels: { read: (text, before) => ({ ...before, ...readLabels(text) }) },
  boolMap: { read: (text, before) => ({ ...before, ...readBoolPairs(text) }) },
  multimap: { read: readMultimap },
  taints: { read: parseTaints },
  reservedMemory: { read: (text, before = []) => (text === '' ? [] : [...before, ...parseReservedMemory(text)]) },
  vmodule: { read: (text, before = []) => [...before, ...parseVmodule(text)] },
  version: { read: readVersion, bare: 'true' },
};

function invalid(message: string): TubeletError {
  return new TubeletError('invalid', message);
}

function readBool(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw invalid('must be true or false');
}

function readIp(text: string): string {
  // The Go kubelet tolerates leading zeros.
  const plain = text.includes(':') ? text : text.replace(/(^|\.)0+(?=\d)/g, '$1');
  if (text !== '' && isIP(plain) === 0) throw invalid('must be an IP address');
  return text;
}

/** Decimal, or 0x, 0o, 0b and a leading 0 as in Go; underscores are allowed between digits. */
function readInteger(text: string, [smallest, largest]: readonly [bigint, bigint]): number {
  const match = /^([+-]?)(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]+|0|[1-9][0-9_]*)$/.exec(text);
  const [, sign, digits = ''] = match ?? [];
  if (match === null || /__|_$/.test(digits)) throw invalid('must be a whole number');
  const magnitude = BigInt(digits.replaceAll('_', '').replace(/^0(?=[0-7])/, '0o'));
  const value = sign === '-' ? -magnitude : magnitude;
  if (value < smallest || value > largest) throw invalid(`must be from ${smallest} to ${largest}`);
  return value === 0n ? 0 : Number(value);
}

/** Splits at the first separator; both sides lose their surrounding space. */
function splitPair(pair: string, separator: string): readonly [string, string] | undefined {
  const at = pair.indexOf(separator);
  return at === -1 ? undefined : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

function readPairs(pairs: readonly string[], separator: string): Readonly<Record<string, string>> {
  const entries = pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const split = splitPair(pair, separator);
      if (split === undefined)
        throw invalid(`must be name${separator}value pairs, but ${JSON.stringify(pair)} is none`);
      return split;
    });
  return Object.fromEntries(entries);
}

function readLabels(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(pairs.map((pair) => splitPair(pair, '=') ?? [pair.trim(), '']));
}

function readBoolPairs(text: string): Readonly<Record<string, boolean>> {
  const pairs = Object.entries(readPairs(text.split(','), '='));
  return Object.fromEntries(
    pairs.map(([name, value]) => {
      try {
        return [name, readBool(value)];
      } catch (error) {
        throw new TubeletError('invalid', `${name} must be true or false, not ${JSON.stringify(value)}`, {
          cause: error,
        });
      }
    }),
  );
}

function readMultimap(text: string, before: FlagValues['multimap'] = {}): FlagValues['multimap'] {
  const result: Record<string, readonly string[]> = { ...before };
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const split = splitPair(pair, ':');
    if (split === undefined) throw invalid(`must be name:value pairs, but ${JSON.stringify(pair)} is none`);
    const [name, value] = split;
    result[name] = [...(Object.hasOwn(result, name) ? (result[name] ?? []) : []), value];
  }
  return result;
}

function readVersion(text: string): string {
  if (text === 'raw' || /^v\d+\.\d+\.\d+([-+].*)?$/.test(text)) return text;
  try {
    return String(readBool(text));
  } catch (error) {
    throw new TubeletError('invalid', 'must be true, false, raw or a version like v1.34.0', { cause: error });
  }
}
