import { closeSync, writeSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { callError, libcError, loadLibc, type Libc } from './libc.ts';
import { unixAddress } from './sd-notify.ts';

const unixDomain = 1;
const stream = 1;
const closeOnExec = 0o2000000;
const nonBlocking = 0o4000;
const closeOnExecReceived = 0x4000_0000;
/** Of the level of sockets: descriptors sent along. */
const socketLevel = 1;
const rights = 1;
/** Of the length, level and type before the descriptors; the length has the size of a pointer. */
const headBytes = 16;
const descriptorBytes = 4;
const maxDescriptors = 16;
const dataBytes = 4_096;
const pollMs = 5;

interface ReceivedDescriptor {
  close(): void;
}

interface SocketEvents {
  onBytes(bytes: Uint8Array, descriptors: readonly ReceivedDescriptor[]): void;
  onClosed(error?: Error): void;
}

interface DescriptorSocket {
  write(bytes: Uint8Array): void;
  close(): void;
}

/**
 * Connects to unix sockets over which programs send descriptors, which Node cannot receive. Such a socket is read every few
 * milliseconds, so it should not live long. Descriptors are bare numbers that no garbage collector closes.
 */
export function fdSockets(
  clock: Pick<Clock, 'after'>,
): (socketName: string, events: SocketEvents) => Promise<DescriptorSocket> {
  return async (socketName, events) => {
    const address = unixAddress(socketName);
    const libc = await loadLibc();
    const fd = libc.socket(unixDomain, stream | closeOnExec | nonBlocking, 0);
    if (fd === -1) throw libcError(libc, 'socket', socketName);
    if (libc.connect(fd, address) === -1) {
      const error = libcError(libc, 'connect', socketName);
      closeSync(fd);
      throw error;
    }
    return new PolledSocket(fd, libc, clock, events);
  };
}

class PolledSocket implements DescriptorSocket {
  readonly #fd: number;
  readonly #libc: Libc;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #events: SocketEvents;
  #closed = false;

  constructor(fd: number, libc: Libc, clock: Pick<Clock, 'after'>, events: SocketEvents) {
    this.#fd = fd;
    this.#libc = libc;
    this.#clock = clock;
    this.#events = events;
    this.#later();
  }

  /** What is written here is shorter than any buffer of a socket. */
  write(bytes: Uint8Array): void {
    if (this.#closed) return;
    try {
      const written = writeSync(this.#fd, bytes);
      if (written < bytes.length) this.#end(new Error(`the socket took ${written} of ${bytes.length} bytes`));
    } catch (error) {
      this.#end(error as Error);
    }
  }

  close(): void {
    this.#end();
  }

  #later(): void {
    this.#clock.after(pollMs, () => {
      this.#receive();
      if (!this.#closed) this.#later();
    });
  }

  /** Once: the other side may write faster than we read. */
  #receive(): void {
    if (this.#closed) return;
    const data = Buffer.alloc(dataBytes);
    const control = Buffer.alloc(headBytes + maxDescriptors * descriptorBytes);
    const { length, controlLength } = this.#libc.recvmsg(this.#fd, data, control, closeOnExecReceived);
    if (length > 0) this.#events.onBytes(data.subarray(0, length), descriptorsIn(control.subarray(0, controlLength)));
    else if (length === 0) this.#end();
    else this.#failed(this.#libc.errno());
  }

  #failed(errorNumber: number): void {
    const code = getSystemErrorName(-errorNumber);
    if (code !== 'EAGAIN' && code !== 'EINTR') this.#end(callError(errorNumber, 'recvmsg', 'of a socket'));
  }

  #end(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
    this.#events.onClosed(error);
  }
}

/** The kernel closes those that there was no room for. What follows the last one fills up to the size of a pointer. */
function descriptorsIn(control: Buffer): readonly ReceivedDescriptor[] {
  if (control.length < headBytes) return [];
  const { buffer } = new Uint8Array(control);
  const length = Number(new BigUint64Array(buffer, 0, 1)[0]);
  const [level, type] = new Int32Array(buffer, 8, 2);
  if (level !== socketLevel || type !== rights) return [];
  const numbers = new Int32Array(buffer, headBytes, Math.floor((length - headBytes) / descriptorBytes));
  return [...numbers].map((fd) => {
    let open = true;
    return {
      close: () => {
        if (open) closeSync(fd);
        open = false;
      },
    };
  });
}
