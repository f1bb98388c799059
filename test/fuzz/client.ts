import { connect as connectPlain, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '../../src/base/system-clock.ts';
import type { FuzzCase, Step, TlsChoice } from './case.ts';
import type { FuzzWorld } from './world.ts';

/** Everybody who stays must have been left by then; a time in which the whole process stands still counts as one tick. */
const tickMs = 100;
const mostTicks = 200;
/** Enough to judge; whoever says more is left. */
const mostBytes = 1 << 20;
const clock = systemClock();

export interface Heard {
  readonly bytes: Buffer;
  /** The server ended the connection; otherwise it was the client. */
  readonly endedByServer: boolean;
  /** In time. */
  readonly ended: boolean;
  readonly ms: number;
  readonly handshake: boolean;
}

/** Plays a case and hears what comes of it. */
export async function play(world: FuzzWorld, fuzz: FuzzCase): Promise<Heard> {
  const began = clock.monotonic();
  const { socket, raw } = open(world, fuzz);
  const chunks: Buffer[] = [];
  let [length, endedByServer, handshake, left] = [0, false, false, false];
  const leave = (reset = false): void => {
    if (!left && !socket.closed) left = true;
    // One that is being ended already cannot be reset; Node would keep it for ever.
    if (reset && raw.writable && !socket.readableEnded && !socket.destroyed) raw.resetAndDestroy();
    socket.destroy();
    raw.destroy();
  };
  socket.on('data', (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    const most = fuzz.leave.kind === 'vanish' ? Math.min(fuzz.leave.bytes, mostBytes) : mostBytes;
    if (length > most) leave(fuzz.leave.kind === 'vanish' && fuzz.leave.reset);
  });
  socket.on('secureConnect', () => (handshake = true));
  socket.on('error', () => {});
  raw.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      endedByServer = !left;
      resolve();
    });
  });
  if (fuzz.leave.kind === 'deaf') socket.pause();
  await sayAll(socket, fuzz.steps);
  const cancels: (() => void)[] = [() => {}];
  if (fuzz.leave.kind === 'end') socket.end();
  if (fuzz.leave.kind === 'deaf') cancels.push(clock.after(fuzz.leave.ms, () => socket.resume()));
  if (fuzz.leave.kind === 'vanish') {
    const { ms, reset } = fuzz.leave;
    cancels.push(clock.after(ms, () => leave(reset)));
  }
  let ended = true;
  const tick = (ticksLeft: number): void => {
    if (ticksLeft > 0) cancels[0] = clock.after(tickMs, () => tick(ticksLeft - 1));
    else {
      ended = false;
      leave();
    }
  };
  tick(mostTicks);
  await closed;
  raw.destroy();
  for (const cancel of cancels) cancel();
  return { bytes: Buffer.concat(chunks), endedByServer, ended, handshake, ms: clock.monotonic() - began };
}

function open(world: FuzzWorld, { listener, tls }: FuzzCase): { readonly socket: Socket; readonly raw: Socket } {
  const raw = connectPlain({ host: '127.0.0.1', port: world.port(listener), noDelay: true });
  if (tls === undefined) return { socket: raw, raw };
  const { certificate = '', alpn, version, damage } = tls;
  const socket = connectTls({
    socket: damage === undefined ? raw : damagedWire(raw, damage),
    rejectUnauthorized: false,
    ...(alpn.length > 0 && { ALPNProtocols: [...alpn] }),
    ...(version && { minVersion: version, maxVersion: version }),
    ...world.certificates.get(certificate),
  });
  return { socket, raw };
}

/** Nobody waits for what is said to be taken: the other side may never take it. */
async function sayAll(socket: Socket, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if (step.kind === 'wait') await clock.sleep(step.ms);
    else if (step.bytes.length > 0 && socket.writable) socket.write(step.bytes);
  }
}

/** A connection that does something to what goes out, from one byte on. */
function damagedWire(raw: Socket, { from, how }: NonNullable<TlsChoice['damage']>): Duplex {
  let sent = 0;
  const wire = new Duplex({
    read: () => void raw.resume(),
    write(chunk: Buffer, _encoding, done) {
      const at = from - sent;
      sent += chunk.length;
      let bytes = Buffer.from(chunk);
      if (at < chunk.length && how === 'stop') bytes = bytes.subarray(0, Math.max(0, at));
      else if (at >= 0 && at < chunk.length) {
        if (how === 'flip') bytes[at] = (bytes[at] ?? 0) ^ 0x40;
        if (how === 'lose') bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
        if (how === 'double') bytes = Buffer.concat([bytes, bytes]);
      }
      if (bytes.length > 0 && raw.writable) raw.write(bytes);
      done();
    },
    final(done) {
      raw.end();
      done();
    },
    destroy(_error, done) {
      raw.destroy();
      done(null);
    },
  });
  raw.on('data', (chunk) => {
    if (!wire.push(chunk)) raw.pause();
  });
  raw.on('end', () => void wire.push(null));
  raw.on('close', () => void wire.destroy());
  return wire;
}
