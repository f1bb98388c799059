import type { RouteId } from '../../src/server/route-table.ts';
import type { Dice } from '../simulation/dice.ts';
import { credentialMark, encodedMarks, entryOf, higher, protocolHeader, tokenNames } from './callers.ts';
import { say, wait, type FuzzCase, type Leave, type Step } from './case.ts';
import { headText, noise, spoil } from './http1-cases.ts';
import { aCaller, aLeave, aListener, someHeaders, tlsOf, type Header } from './requests.ts';
import { aTarget, queryMark, routeIds } from './targets.ts';

const sessions: readonly RouteId[] = ['exec', 'execUid', 'attach', 'attachUid', 'portForward', 'portForwardUid'];

const protocols: readonly string[] = [
  'SPDY/3.1',
  'SPDY/3.1',
  'SPDY/3.1',
  'websocket',
  'websocket',
  'WebSocket',
  'h2c',
  'TLS/1.3',
  'HTTP/2.0',
  'spdy/3.1, websocket',
  '',
  'x'.repeat(5_000),
  'SPDY/3.1\xff',
];
const connections: readonly string[] = [
  'Upgrade',
  'Upgrade',
  'Upgrade',
  'upgrade, close',
  'keep-alive, Upgrade',
  'close',
];

function webSocketHeaders(dice: Dice): Header[] {
  const headers: Header[] = [];
  if (dice.chance(0.9))
    headers.push([
      'Sec-WebSocket-Key',
      dice.pick(['dGhlIHNhbXBsZSBub25jZQ==', '', 'short', '='.repeat(24), 'x'.repeat(9_000)]),
    ]);
  if (dice.chance(0.9)) headers.push(['Sec-WebSocket-Version', dice.pick(['13', '8', '-1', '', '13, 8'])]);
  if (dice.chance(0.3)) headers.push(['Sec-WebSocket-Extensions', 'permessage-deflate; client_max_window_bits=99']);
  return headers;
}

/** Requests that want to leave HTTP, to pages that can and to pages that cannot. */
export function upgradeCase(dice: Dice): FuzzCase {
  const listener = dice.chance(0.9) ? 'secure' : aListener(dice);
  const target = aTarget(dice, dice.chance(0.85) ? dice.pick(sessions) : dice.pick(routeIds));
  const caller = aCaller(dice);
  const protocol = dice.pick(protocols);
  const headers: Header[] = [['Host', 'node'], ...someHeaders(dice, caller)];
  let { entry } = caller;
  if (dice.chance(0.95)) headers.push(['Upgrade', protocol]);
  headers.push(['Connection', dice.pick(connections)]);
  if (protocol.toLowerCase().includes('websocket') || dice.chance(0.05)) headers.push(...webSocketHeaders(dice));
  if (dice.chance(0.3)) {
    const token = dice.pick(tokenNames);
    headers.push(['Sec-WebSocket-Protocol', protocolHeader(dice, token)]);
    entry = higher(entry, entryOf(token));
  } else if (dice.chance(0.5)) headers.push(['X-Stream-Protocol-Version', 'v4.channel.k8s.io']);
  if (dice.chance(0.1)) headers.push(['HTTP2-Settings', 'AAMAAABkAAQAAP__']);
  if (dice.chance(0.1)) headers.push(['Content-Length', `${dice.whole(0, 20)}`]);
  if (dice.chance(0.05)) headers.push(['Transfer-Encoding', 'chunked']);
  const method = dice.chance(0.9) ? dice.pick(['GET', 'POST']) : 'PUT';
  const head = headText(method, target.path, headers);
  const before = dice.chance(0.07) ? headText('GET', '/healthz', [['Host', 'node']]).repeat(dice.whole(1, 4)) : '';
  const bytes = Buffer.from(before + head, 'latin1');
  const steps: Step[] = [say(dice.chance(0.08) ? spoil(dice, withoutSecrets(bytes)) : bytes)];
  for (let count = dice.whole(0, 3); count > 0; count--)
    steps.push(wait(dice.whole(0, 60)), say(noise(dice, dice.whole(1, 2_000))));
  const tls = listener === 'secure' ? tlsOf(dice, caller) : undefined;
  // What goes on for ever must be left; all others end by themselves, at the latest for want of use.
  const leave =
    target.mode === 'never' || /follow|run-hangs/.test(target.path) ? aLeave(dice, true) : sessionLeave(dice);
  return {
    kind: 'upgrade',
    listener,
    tls,
    protocol: 'http1',
    steps,
    leave,
    entry,
    handsOver: true,
    echoesCommand: true,
  };
}

/** What is changed may become a header that is passed on, or a path that is told. */
function withoutSecrets(bytes: Buffer): Buffer {
  let text = bytes.toString('latin1');
  for (const secret of [queryMark, credentialMark, ...encodedMarks]) text = text.replaceAll(secret, 'nosecret');
  return Buffer.from(text, 'latin1');
}

function sessionLeave(dice: Dice): Leave {
  const kind = dice.weighted({ stay: 3, end: 3, vanish: 5, deaf: 1 });
  if (kind === 'stay' || kind === 'end') return { kind };
  if (kind === 'deaf') return { kind, ms: dice.whole(100, 900) };
  return { kind, bytes: dice.whole(0, 300_000), ms: dice.whole(0, 500), reset: dice.chance(0.5) };
}
