import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { CancelTimer, Clock } from '../../base/clock.ts';

const most = 8;
/** About three milliseconds' worth of handshakes between two looks at everything else. */
const mostPerTurn = 3;
/** So long those that dawdle keep others waiting. */
const patienceMs = 20;

/**
 * Lets a server begin a few TLS handshakes at a time, so that hundreds of clients who come at once, as after a network is
 * mended, do not hold up everything else. A client that says nothing holds its place for a moment only:
 *
 *   waiting ──place free──> begun ──secured, failed──> place free
 *                             └──── 20 ms ───────────> all places free
 *
 * However many places are free, a few begin in one turn of the event loop: when the turns are long, because there is much
 * to do, moments have passed after each, and those that begin would become more and more.
 */
export function paceHandshakes(server: EventEmitter, clock: Pick<Clock, 'after'>): void {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  const waiting: Socket[] = [];
  let free = most;
  let thisTurn = mostPerTurn;
  let timer: CancelTimer | undefined;

  const advance = (): void => {
    while (free > 0 && thisTurn > 0 && waiting.length > 0) {
      const socket = waiting.shift();
      if (socket === undefined || socket.destroyed) continue;
      free--;
      if (thisTurn-- === mostPerTurn) setImmediate(nextTurn);
      for (const listener of begin) Reflect.apply(listener, server, [socket]);
    }
    if (waiting.length > 0) timer ??= clock.after(patienceMs, release);
  };
  const nextTurn = (): void => {
    thisTurn = mostPerTurn;
    advance();
  };
  const release = (): void => {
    timer = undefined;
    free = most;
    advance();
  };
  const ended = (): void => {
    free = Math.min(free + 1, most);
    advance();
  };

  server.on('connection', (socket: Socket) => {
    waiting.push(socket);
    advance();
  });
  server.on('secureConnection', ended);
  server.on('tlsClientError', ended);
  server.on('close', () => timer?.());
}
