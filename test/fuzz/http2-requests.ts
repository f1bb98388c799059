import type { Dice } from '../simulation/dice.ts';
import type { FuzzCase } from './case.ts';
import { acknowledged, flags, frame, headerBlock, preface, settings } from './http2-frames.ts';
import {
  aBody,
  aCaller,
  aMethod,
  aRequestTarget,
  isEndless,
  someHeaders,
  tlsOf,
  type Caller,
  type Header,
} from './requests.ts';

export type Pair = readonly [name: string, value: string];
/** So that the answers can be read without a table. */
const noTable = [1, 0] as const;
export const largeWindow = [4, 2 ** 31 - 1] as const;
export const hello = (...pairs: readonly (readonly [number, number])[]): Buffer =>
  Buffer.concat([preface, settings(noTable, ...pairs), acknowledged]);

export function requestPairs(method: string, path: string, headers: readonly Header[]): Pair[] {
  const lower = headers.map(([name, value]): Pair => [
    name.toLowerCase(),
    value.replaceAll(/[^\x20-\x7e]/g, '?').trim(),
  ]);
  return [[':method', method], [':scheme', 'https'], [':authority', 'node'], [':path', path], ...lower];
}

/** Header frames for a block: in one piece, or in several. */
export function headerFrames(stream: number, block: Buffer, flag: number, pieceBytes = 16_384): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += pieceBytes) {
    const isLast = at + pieceBytes >= block.length;
    const own = (at === 0 ? flag : 0) | (isLast ? flags.endHeaders : 0);
    pieces.push(frame(at === 0 ? 'headers' : 'continuation', own, stream, block.subarray(at, at + pieceBytes)));
  }
  return Buffer.concat(pieces);
}

export function ask(dice: Dice, caller: Caller, stream: number): { readonly bytes: Buffer; readonly endless: boolean } {
  const target = aRequestTarget(dice, 0.15);
  const method = aMethod(dice, target);
  const headers = someHeaders(dice, caller).filter(([name]) => !/^(te|connection)$/i.test(name));
  const body = method === 'POST' || method === 'PUT' ? aBody(dice) : Buffer.alloc(0);
  const block = headerBlock(requestPairs(method, target.path, headers));
  const ends = body.length === 0;
  const head = headerFrames(stream, block, ends ? flags.endStream : 0, dice.chance(0.1) ? 100 : 16_384);
  const rest = ends ? Buffer.alloc(0) : frame('data', flags.endStream, stream, body);
  return { bytes: Buffer.concat([head, rest]), endless: isEndless(target) };
}

export function connection(
  dice: Dice,
  kind: string,
): Pick<FuzzCase, 'kind' | 'listener' | 'protocol' | 'tls' | 'entry'> & {
  readonly caller: Caller;
} {
  const caller = aCaller(dice);
  const tls = tlsOf(dice, caller, dice.pick([['h2'], ['h2', 'http/1.1'], ['h2']]));
  return { kind, listener: 'secure', protocol: 'http2', tls, entry: caller.entry, caller };
}
