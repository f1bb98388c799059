import { TubeletError } from '../../base/errors.ts';
import { nearest } from '../../base/nearest.ts';
import { Quantity } from '../../model/quantity.ts';
import type { FlagValues } from './spec.ts';

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function invalid(message: string): TubeletError {
  return new TubeletError('invalid', message);
}

/** A comma-separated list; an item with commas or quotes is in double quotes, and a quote in it is doubled. */
export function splitList(text: string): readonly string[] {
  if (text === '') return [];
  const items: string[] = [];
  const item = /("(?:[^"]|"")*"|[^",]*)(,|$)/y;
  for (let end = ','; end === ',';) {
    const match = item.exec(text);
    if (match === null)
      throw invalid('must be a comma-separated list; items with quotes must be quoted, with quotes doubled');
    const [, part = '', separator = ''] = match;
    items.push(part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part);
    end = separator;
  }
  return items;
}

export function parseTaints(text: string): FlagValues['taints'] {
  if (text === '') return [];
  const taints = text.split(',').map(parseTaint);
  const seen = new Set<string>();
  for (const { key, effect } of taints) {
    if (seen.has(`${key}:${effect}`)) throw invalid(`the taint ${key}:${effect} is given twice`);
    seen.add(`${key}:${effect}`);
  }
  return taints;
}

function parseTaint(text: string): FlagValues['taints'][number] {
  const match = /^([^=:]+)(?:=([^=:]*))?:([^=:]+)$/.exec(text);
  const [, key = '', value = '', effect = ''] = match ?? [];
  if (match === null) throw invalid(`must be key=value:effect, but ${JSON.stringify(text)} is not`);
  if (!effects.includes(effect))
    throw invalid(`the effect must be one of ${effects.join(', ')}, not ${JSON.stringify(effect)}${guessOf(effect)}`);
  return { key, value, effect };
}

function guessOf(effect: string): string {
  const known = nearest(effect, effects);
  return known === undefined ? '' : `; did you mean ${known}?`;
}

export function parseReservedMemory(text: string): FlagValues['reservedMemory'] {
  return text.split(';').map((part) => {
    const [node = '', kinds, ...more] = part.split(':');
    if (kinds === undefined || more.length > 0 || !/^\d+$/.test(node)) {
      throw invalid(`must be numaNode:type=quantity[,type=quantity], but ${JSON.stringify(part)} is not`);
    }
    return { numaNode: Number(node), limits: parseLimits(kinds) };
  });
}

function parseLimits(text: string): Readonly<Record<string, Quantity>> {
  const limits: Record<string, Quantity> = {};
  for (const pair of text.split(',')) {
    const [kind = '', quantity, ...more] = pair.split('=');
    if (quantity === undefined || more.length > 0)
      throw invalid(`must be type=quantity, but ${JSON.stringify(pair)} is not`);
    if (kind !== 'memory' && !kind.startsWith('hugepages-')) {
      throw invalid(`only memory and hugepages-<size> can be reserved, not ${JSON.stringify(kind)}`);
    }
    if (Object.hasOwn(limits, kind)) throw invalid(`${kind} is given twice for one node`);
    limits[kind] = Quantity.parse(quantity);
  }
  return limits;
}

export function parseVmodule(text: string): FlagValues['vmodule'] {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return pairs.map((pair) => {
    const [filePattern = '', level = '', ...more] = pair.split('=');
    const verbosity = /^\d+$/.test(level) ? Number(level) : Number.NaN;
    if (filePattern === '' || more.length > 0 || !(verbosity < 2 ** 31)) {
      throw invalid(`must be pattern=level pairs, but ${JSON.stringify(pair)} is none`);
    }
    return { filePattern, verbosity };
  });
}
