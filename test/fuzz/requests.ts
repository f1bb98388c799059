import { routeTable } from '../../src/server/route-table.ts';
import type { ListenerName } from '../../src/server/route.ts';
import type { Dice } from '../simulation/dice.ts';
import {
  authorizationHeader,
  credentialMark,
  entryOf,
  higher,
  tokenNames,
  type Entry,
  type TokenName,
} from './callers.ts';
import type { Leave, TlsChoice } from './case.ts';
import { aTarget, changedTarget, queryMark, type FuzzTarget } from './targets.ts';

export type Header = readonly [name: string, value: string];

const oddMethods = [
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
  'get',
  'FOO',
  'GET\0',
  'G'.repeat(300),
  'PURGE',
];
const certificateNames = [
  'stranger',
  'expired',
  'early',
  'server',
  'forged',
  'critical',
  'nameless',
  'odd',
  'long',
  'alone',
  'broken',
  'reader',
];

/** Who asks, and how that is said on this connection. */
export interface Caller {
  readonly certificate: string | undefined;
  readonly token: TokenName | undefined;
  readonly entry: Entry;
}

/** Mostly somebody who may do everything: behind that door is more to be broken. */
export function aCaller(dice: Dice): Caller {
  const certificate = dice.chance(0.45) ? 'admin' : dice.chance(0.25) ? dice.pick(certificateNames) : undefined;
  // Those that the API server leaves waiting take a second each.
  const slow = (name: TokenName): boolean => name === 'hanging' || name === 'failing';
  const picked = dice.chance(0.5) ? 'admin' : dice.chance(0.4) ? dice.pick(tokenNames) : undefined;
  const token = picked !== undefined && slow(picked) && dice.chance(0.8) ? 'unknown' : picked;
  return { certificate, token, entry: higher(entryOf(certificate), entryOf(token)) };
}

export function aMethod(dice: Dice, { id }: Pick<FuzzTarget, 'id'>): string {
  if (dice.chance(0.8)) return dice.pick(routeTable[id].methods);
  return dice.chance(0.5) ? dice.pick(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) : dice.pick(oddMethods);
}

const usual: readonly Header[] = [
  ['Accept', '*/*'],
  ['Accept', 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1'],
  ['Accept', 'application/json'],
  ['Accept', ';q=;;,,,=;"'],
  ['Accept-Encoding', 'gzip'],
  ['Accept-Encoding', 'gzip;q=0, br, *;q=x'],
  ['Content-Type', 'application/x-www-form-urlencoded'],
  ['Cookie', `session=${credentialMark}`],
  ['Proxy-Authorization', `Basic ${credentialMark}`],
  ['X-Forwarded-For', '1.2.3.4'],
  ['X-Remote-User', 'system:masters'],
  ['Impersonate-User', 'admin'],
  ['Range', 'bytes=0-1,5-'],
  ['If-Modified-Since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
  ['If-None-Match', '*'],
  ['Origin', 'https://evil.example'],
  ['TE', 'trailers, chunked'],
  ['Traceparent', '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-01'],
  ['Max-Forwards', '0'],
  ['User-Agent', 'fuzz/1'],
];

/** Headers that belong to nothing in particular. */
export function someHeaders(dice: Dice, caller: Caller): Header[] {
  const headers: Header[] = [];
  if (caller.token !== undefined) headers.push(['Authorization', authorizationHeader(dice, caller.token)]);
  for (let count = dice.whole(0, 4); count > 0; count--) headers.push(dice.pick(usual));
  if (dice.chance(0.03)) headers.push(['X-Big', 'b'.repeat(dice.whole(10_000, 300_000))]);
  if (dice.chance(0.02))
    headers.push(...Array.from({ length: dice.whole(50, 1_500) }, (_, n): Header => [`X-${n}`, `${n}`]));
  if (dice.chance(0.03)) headers.push(...Array.from({ length: dice.whole(2, 60) }, (): Header => ['X-Same', 'again']));
  if (dice.chance(0.03)) headers.push([dice.pick(['__proto__', 'constructor', 'hasOwnProperty']), 'x']);
  return headers;
}

export function aBody(dice: Dice): Buffer {
  return Buffer.from(
    dice.pick([
      '',
      '2',
      '99',
      '-1',
      `cmd=ls+--token%3d${queryMark}`,
      'only_cpu_and_memory=true',
      `{"password":"${queryMark}"}`,
      'x'.repeat(dice.whole(1, 3_000)),
    ]),
    'latin1',
  );
}

/** An address for this request, at times a spoilt one. */
export function aRequestTarget(dice: Dice, spoilt: number): FuzzTarget {
  const target = aTarget(dice);
  return dice.chance(spoilt) ? { ...target, path: changedTarget(dice, target.path) } : target;
}

/** Goes on for as long as somebody listens. */
export function isEndless({ id, path, mode }: FuzzTarget): boolean {
  return (id === 'containerLogs' && /follow/i.test(path)) || mode === 'run-hangs' || mode === 'never';
}

export function aLeave(dice: Dice, endless = false): Leave {
  const kind = dice.weighted({ stay: endless ? 0 : 12, end: endless ? 0 : 2, vanish: 4, deaf: endless ? 0 : 1 });
  if (kind === 'stay' || kind === 'end') return { kind };
  if (kind === 'deaf') return { kind, ms: dice.whole(50, 900) };
  return { kind, bytes: dice.whole(0, 40_000), ms: dice.whole(0, 400), reset: dice.chance(0.5) };
}

export function aListener(dice: Dice): ListenerName {
  return dice.weighted({ secure: 7, readOnly: 2, healthz: 1 });
}

export function tlsOf(dice: Dice, caller: Caller, alpn: readonly string[] = ['http/1.1']): TlsChoice {
  const version = dice.chance(0.3) ? dice.pick(['TLSv1.2', 'TLSv1.3'] as const) : undefined;
  return { alpn, version, certificate: caller.certificate };
}
