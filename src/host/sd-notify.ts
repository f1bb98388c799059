import { closeSync } from 'node:fs';
import { endianness } from 'node:os';
import { TubeletError } from '../base/errors.ts';
import { libcError, loadLibc } from './libc.ts';

const unixDomain = 1;
const datagram = 2;
const closeOnExec = 0o2000000;
const nonBlocking = 0o4000;
const noSigpipe = 0x4000;
const maxAddressBytes = 108;

interface NotifyEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

/** Notifications to the service manager. Each answers false when no service manager listens. */
export interface ServiceNotifier {
  ready(): Promise<boolean>;
  stopping(): Promise<boolean>;
  watchdog(): Promise<boolean>;
}

/** Notifies systemd of the service's state, over the datagram socket that it names in the environment. */
export function serviceNotifier(env: NotifyEnvironment): ServiceNotifier {
  const socket = env.NOTIFY_SOCKET ?? '';
  const send = async (state: string): Promise<boolean> => {
    if (socket === '') return false;
    await sendDatagram(socket, state);
    return true;
  };
  return {
    ready: () => send('READY=1'),
    stopping: () => send('STOPPING=1'),
    watchdog: () => send('WATCHDOG=1'),
  };
}

/**
 * The interval in which systemd expects a notification, in milliseconds; undefined when it does not watch this process.
 */
export function watchdogTimeoutMs(env: NotifyEnvironment, pid: number): number | undefined {
  const { WATCHDOG_USEC: text = '', WATCHDOG_PID: owner = '' } = env;
  if (text === '') return undefined;
  const micros = wholeNumber('WATCHDOG_USEC', text);
  if (micros <= 0n) throw new TubeletError('invalid', 'error WATCHDOG_USEC must be a positive number');
  // It may have been set for the process that started this one.
  if (owner !== '' && wholeNumber('WATCHDOG_PID', owner) !== BigInt(pid)) return undefined;
  return Number(micros) / 1_000;
}

/** As Go reads numbers: a sign and decimal digits that fit into 64 bits. */
function wholeNumber(name: string, text: string): bigint {
  const fault = (why: string): TubeletError =>
    new TubeletError('invalid', `error converting ${name}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw fault('invalid syntax');
  const value = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, value) !== value) throw fault('value out of range');
  return value;
}

/** The bytes of a sockaddr_un: a path, or with `@` before it a name in the abstract namespace. */
export function unixAddress(name: string): Buffer {
  const bytes = Buffer.from(name.startsWith('@') ? `\0${name.slice(1)}` : `${name}\0`);
  if (bytes.length > maxAddressBytes) throw new TubeletError('invalid', `socket name is too long: ${name}`);
  const family = Buffer.alloc(2);
  if (endianness() === 'LE') family.writeUInt16LE(unixDomain);
  else family.writeUInt16BE(unixDomain);
  return Buffer.concat([family, bytes]);
}

/** A socket per message: there are few, and the service manager may have been replaced in between. */
async function sendDatagram(name: string, text: string): Promise<void> {
  const address = unixAddress(name);
  const libc = await loadLibc();
  const fd = libc.socket(unixDomain, datagram | closeOnExec | nonBlocking, 0);
  if (fd === -1) throw libcError(libc, 'socket', name);
  try {
    if (libc.sendto(fd, Buffer.from(text), noSigpipe, address) === -1) throw libcError(libc, 'sendto', name);
  } finally {
    closeSync(fd);
  }
}
