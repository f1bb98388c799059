import { MessageSplitter } from '../../dbus/message-splitter.ts';
import type { Message } from '../../dbus/message.ts';
import type { Transport, TransportEvents } from '../../dbus/ports.ts';

/** A descriptor that shows whether it was closed. */
export class FakeDescriptor {
  closed = 0;

  close(): void {
    this.closed++;
  }
}

interface ClientOptions {
  readonly events: TransportEvents;
  /** Undefined for who speaks to a program, not to a bus. */
  readonly name: string | undefined;
  readonly silent: boolean;
  readonly onMessage: (from: FakeBusClient, message: Message) => void;
  readonly onEnd: (from: FakeBusClient) => void;
}

/** The other end of a client's socket: the lines of the authentication, then messages. What is sent arrives a turn later. */
export class FakeBusClient implements Transport {
  readonly matches: string[] = [];
  readonly #options: ClientOptions;
  readonly #splitter = new MessageSplitter();
  #begun = false;
  #ended = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get name(): string | undefined {
    return this.#options.name;
  }

  write(bytes: Uint8Array): void {
    if (this.#ended || this.#options.silent) return;
    if (this.#begun) this.#take(bytes);
    else this.#takeLines(Buffer.from(bytes).toString('latin1'));
  }

  close(): void {
    this.drop();
  }

  drop(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.onEnd(this);
    queueMicrotask(() => this.#options.events.onClosed());
  }

  send(bytes: Uint8Array, descriptors: readonly FakeDescriptor[] = []): void {
    queueMicrotask(() => {
      if (!this.#ended) this.#options.events.onBytes(bytes, descriptors);
    });
  }

  #take(bytes: Uint8Array): void {
    for (const message of this.#splitter.push(bytes)) this.#options.onMessage(this, message);
  }

  #takeLines(text: string): void {
    // systemd leaves a message unread that comes right behind a BEGIN, until more comes.
    if (this.name === undefined && !text.startsWith('\0AUTH')) this.#ended = true;
    for (const line of text.split('\r\n')) {
      if (/^\0AUTH EXTERNAL 30$/.test(line)) this.send(Buffer.from('OK 0123456789abcdef\r\n'));
      else if (line.startsWith('\0AUTH')) this.send(Buffer.from('REJECTED EXTERNAL\r\n'));
      else if (line === 'NEGOTIATE_UNIX_FD') this.send(Buffer.from('AGREE_UNIX_FD\r\n'));
      else if (line === 'BEGIN') this.#begun = true;
    }
  }
}
