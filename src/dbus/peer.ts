import { isKind } from '../base/errors.ts';
import type { Answer, BusConnection } from './bus-connection.ts';
import type { Message } from './message.ts';
import { toBus } from './open-connection.ts';
import { textOf, type DBusValue } from './values.ts';

/** A signal of the other side. */
interface SignalName {
  readonly path: string;
  readonly interface: string;
  readonly member: string;
}

const busName = 'org.freedesktop.DBus';

/**
 * One program at the other end, by its name on the bus or with a socket of its own. Signals count only from the program
 * that owns the name: any program on the system bus may send signals that look like those of another program. The connection
 * is given up when the name goes to another program, which knows nothing of what was begun with the first.
 */
export class Peer {
  readonly #connection: BusConnection;
  /** Undefined where the connection leads to no bus. */
  readonly #name: string | undefined;
  /** The unique name of the program; undefined while the name has no owner. */
  #owner: string | undefined;

  constructor(connection: BusConnection, name: string | undefined) {
    this.#connection = connection;
    this.#name = name;
  }

  get closed(): Promise<Error> {
    return this.#connection.closed;
  }

  /** Whether there is a program to talk to. */
  get present(): boolean {
    return this.#name === undefined || this.#owner !== undefined;
  }

  /** Learns who has the name, now and from now on. */
  async follow(): Promise<void> {
    const name = this.#name;
    if (name === undefined) return;
    this.#connection.onSignal((message) => this.#noteOwner(message));
    const rule = `type='signal',sender='${busName}',interface='${busName}',member='NameOwnerChanged',arg0='${name}'`;
    await this.#connection.call(toBus('AddMatch', 's', [rule]));
    try {
      const { body } = await this.#connection.call(toBus('GetNameOwner', 's', [name]));
      this.#owner ??= textOf(body[0]);
    } catch (error) {
      // The name has no owner yet; NameOwnerChanged reports the first one.
      if (!isKind(error, 'unavailable')) throw error;
    }
  }

  call(
    path: string,
    method: `${string}.${string}`,
    signature = '',
    body: readonly DBusValue[] = [],
    options: { readonly timeoutMs?: number; readonly noAutoStart?: boolean } = {},
  ): Promise<Answer> {
    const dot = method.lastIndexOf('.');
    const { timeoutMs, noAutoStart = false } = options;
    return this.#connection.call(
      {
        destination: this.#name,
        path,
        interface: method.slice(0, dot),
        member: method.slice(dot + 1),
        signature,
        body,
        noAutoStart,
      },
      timeoutMs,
    );
  }

  /** A property as the other side has it now. */
  async property(path: string, ofInterface: string, name: string): Promise<DBusValue | undefined> {
    const { body } = await this.call(path, `${busName}.Properties.Get`, 'ss', [ofInterface, name]);
    const [variant] = body;
    return typeof variant === 'object' && 'value' in variant ? variant.value : undefined;
  }

  /** Resolves when none can be missed any more. The returned function ends it. */
  async onSignal(signal: SignalName, listener: (message: Message) => void): Promise<() => void> {
    const end = this.#connection.onSignal((message) => {
      const same =
        message.member === signal.member && message.interface === signal.interface && message.path === signal.path;
      if (same && this.#isFromOwner(message)) listener(message);
    });
    const name = this.#name;
    // A program that is connected to directly sends all its signals.
    if (name === undefined) return end;
    const rule = `type='signal',sender='${name}',path='${signal.path}',interface='${signal.interface}',member='${signal.member}'`;
    try {
      await this.#connection.call(toBus('AddMatch', 's', [rule]));
    } catch (error) {
      end();
      throw error;
    }
    return () => {
      end();
      // Where this fails the bus goes on sending signals that have no listener.
      this.#connection.call(toBus('RemoveMatch', 's', [rule])).catch(() => {});
    };
  }

  close(): void {
    this.#connection.lose();
  }

  #isFromOwner({ sender }: Message): boolean {
    return this.#name === undefined || (sender !== undefined && sender === this.#owner);
  }

  #noteOwner(message: Message): void {
    if (message.sender !== busName || message.member !== 'NameOwnerChanged' || message.signature !== 'sss') return;
    const [name, , owner] = message.body();
    if (name !== this.#name) return;
    if (this.#owner !== undefined && owner !== this.#owner)
      this.#connection.lose(new Error(`${name} has another owner`));
    this.#owner = owner === '' ? undefined : textOf(owner);
  }
}
