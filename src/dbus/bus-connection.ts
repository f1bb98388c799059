import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { MessageSplitter } from './message-splitter.ts';
import { encodeMessage, type Message, type MessageHeader } from './message.ts';
import type { Descriptor, Transport } from './ports.ts';
import { connectionLost, remoteError } from './remote-error.ts';
import { MalformedMessage, type DBusValue } from './values.ts';

export interface MethodCall {
  readonly destination?: string | undefined;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
  /** Refuses that the bus starts a program that could answer. */
  readonly noAutoStart?: boolean;
}

export interface Answer {
  readonly body: readonly DBusValue[];
  /** The caller's to close. */
  readonly descriptors: readonly Descriptor[];
}

interface PendingCall {
  readonly settle: (message: Message, descriptors: readonly Descriptor[]) => void;
  readonly fail: (error: Error) => void;
}

const callTimeoutMs = 25_000;
const maxPendingCalls = 1_024;
/** Descriptors that came and whose message is not complete. */
const maxDescriptors = 16;

/** An authenticated connection. It ends with its socket, or with the first bytes that are no message. */
export class BusConnection {
  /** Resolves at the end, with what is the error of every call that was under way. */
  readonly closed: Promise<TubeletError>;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #transport: Transport;
  readonly #splitter = new MessageSplitter();
  readonly #pending = new Map<number, PendingCall>();
  readonly #listeners = new Set<(message: Message) => void>();
  readonly #resolveClosed: (error: TubeletError) => void;
  #descriptors: Descriptor[] = [];
  #lastSerial = 0;
  /** Times that anything came. */
  #received = 0;
  #lost: TubeletError | undefined;

  constructor({ clock, transport }: { readonly clock: Pick<Clock, 'after'>; readonly transport: Transport }) {
    this.#clock = clock;
    this.#transport = transport;
    let resolveClosed: (error: TubeletError) => void = () => {};
    this.closed = new Promise((resolve) => (resolveClosed = resolve));
    this.#resolveClosed = resolveClosed;
  }

  /** Rejects with the other side's error, with `timeout`, or with `unavailable` when the connection ends. */
  call(call: MethodCall, timeoutMs = callTimeoutMs): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) throw this.#lost;
      if (this.#pending.size >= maxPendingCalls) throw new TubeletError('exhausted', 'too many D-Bus calls at once');
      const serial = this.#send({ ...call, type: 'call' }, call.signature, call.body);
      const before = this.#received;
      const cancel = this.#clock.after(timeoutMs, () => {
        end(() => reject(new TubeletError('timeout', `${call.member}: no answer within ${timeoutMs} ms`)));
        // Perhaps it stands still for good; the next call is made over another connection.
        if (this.#received === before) this.lose(new Error('nothing came for too long'));
      });
      const end = (then: () => void): void => {
        cancel();
        this.#pending.delete(serial);
        then();
      };
      this.#pending.set(serial, {
        settle: (message, descriptors) => end(() => settle(message, descriptors, resolve)),
        fail: (error) => end(() => reject(error)),
      });
      const settle = (message: Message, descriptors: readonly Descriptor[], done: (answer: Answer) => void): void => {
        try {
          if (message.type === 'error') throw remoteError(message);
          done({ body: message.body(), descriptors });
        } catch (error) {
          closeAll(descriptors);
          reject(error);
        }
      };
    });
  }

  /** Signals, from whomever. The returned function ends it. */
  onSignal(listener: (message: Message) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** What came over the socket. */
  receive(bytes: Uint8Array, descriptors: readonly Descriptor[]): void {
    this.#received++;
    this.#descriptors.push(...descriptors);
    if (this.#lost !== undefined) {
      this.#closeDescriptors();
      return;
    }
    try {
      for (const message of this.#splitter.push(bytes)) this.#take(message);
      if (this.#descriptors.length > maxDescriptors) throw new MalformedMessage('too many descriptors');
    } catch (error) {
      this.lose(error as Error);
    }
  }

  /** Ends the connection; every call under way fails. */
  lose(cause?: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = connectionLost(cause);
    this.#closeDescriptors();
    this.#listeners.clear();
    for (const { fail } of this.#pending.values()) fail(this.#lost);
    this.#transport.close();
    this.#resolveClosed(this.#lost);
  }

  #take(message: Message): void {
    const count = message.unixFds ?? 0;
    if (count > this.#descriptors.length) throw new MalformedMessage('descriptors are missing');
    const descriptors = this.#descriptors.splice(0, count);
    const pending = message.replySerial === undefined ? undefined : this.#pending.get(message.replySerial);
    if (pending !== undefined && (message.type === 'return' || message.type === 'error')) {
      pending.settle(message, descriptors);
      return;
    }
    closeAll(descriptors);
    if (message.type === 'signal') for (const listener of this.#listeners) listener(message);
    else if (message.type === 'call' && message.noReplyExpected !== true) this.#refuse(message);
  }

  /** The agent has no methods to call; a caller gets an error. */
  #refuse({ serial, sender, member }: Message): void {
    const errorName = 'org.freedesktop.DBus.Error.UnknownMethod';
    this.#send({ type: 'error', errorName, replySerial: serial, destination: sender }, 's', [
      `there is no method ${member}`,
    ]);
  }

  #send(header: MessageHeader, signature?: string, body?: readonly DBusValue[]): number {
    this.#lastSerial = (this.#lastSerial % 0xffff_ffff) + 1;
    this.#transport.write(encodeMessage(header, this.#lastSerial, signature, body));
    return this.#lastSerial;
  }

  #closeDescriptors(): void {
    closeAll(this.#descriptors.splice(0));
  }
}

function closeAll(descriptors: readonly Descriptor[]): void {
  for (const descriptor of descriptors) descriptor.close();
}
