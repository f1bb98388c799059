import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { Authentication } from './authentication.ts';
import { BusConnection, type MethodCall } from './bus-connection.ts';
import type { Descriptor, OpenTransport, Transport, TransportEvents } from './ports.ts';
import { connectionLost } from './remote-error.ts';
import type { DBusValue } from './values.ts';

export interface ConnectionOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly open: OpenTransport;
  /** As whom the kernel knows us. */
  readonly uid: number;
  /** Whether the other side may send descriptors. */
  readonly descriptors?: boolean;
  /** A bus expects Hello before anything else; without one the other side is the program itself. */
  readonly bus: boolean;
}

/** For connect, authentication and Hello together. */
const openTimeoutMs = 5_000;

/** Connects, authenticates, and says Hello to a bus. */
export async function openConnection(socketName: string, options: ConnectionOptions): Promise<BusConnection> {
  const opening = new Opening(options);
  try {
    return await withTimeout(options.clock, openTimeoutMs, async () => {
      opening.begin(await options.open(socketName, opening));
      const connection = await opening.authenticated;
      if (options.bus) await connection.call(toBus('Hello'));
      return connection;
    });
  } catch (error) {
    opening.giveUp();
    throw error;
  }
}

/** A call of the bus itself. */
export function toBus(member: string, signature = '', body: readonly DBusValue[] = []): MethodCall {
  const name = 'org.freedesktop.DBus';
  return { destination: name, path: '/org/freedesktop/DBus', interface: name, member, signature, body };
}

/** What comes over a new socket: first the lines of the authentication, then messages. */
class Opening implements TransportEvents {
  readonly authenticated: Promise<BusConnection>;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #authentication: Authentication;
  #settle: { readonly resolve: (connection: BusConnection) => void; readonly reject: (error: unknown) => void };
  #transport: Transport | undefined;
  #connection: BusConnection | undefined;
  #givenUp = false;

  constructor({ clock, uid, descriptors = false }: ConnectionOptions) {
    this.#clock = clock;
    this.#authentication = new Authentication({ uid, descriptors });
    this.#settle = { resolve: () => {}, reject: () => {} };
    this.authenticated = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // It may reject before `openConnection` awaits it and gets the error.
    this.authenticated.catch(() => {});
  }

  begin(transport: Transport): void {
    this.#transport = transport;
    if (this.#givenUp) transport.close();
    else transport.write(Buffer.from(this.#authentication.lines));
  }

  giveUp(): void {
    this.#givenUp = true;
    this.#connection?.lose();
    this.#transport?.close();
  }

  onBytes(bytes: Uint8Array, descriptors: readonly Descriptor[]): void {
    if (this.#connection !== undefined) {
      this.#connection.receive(bytes, descriptors);
      return;
    }
    for (const descriptor of descriptors) descriptor.close();
    try {
      this.#authenticate(bytes);
    } catch (error) {
      this.#settle.reject(error);
      this.#transport?.close();
    }
  }

  onClosed(error?: Error): void {
    if (this.#connection === undefined) this.#settle.reject(connectionLost(error));
    else this.#connection.lose(error);
  }

  #authenticate(bytes: Uint8Array): void {
    const transport = this.#transport;
    if (transport === undefined) throw new TubeletError('invalid', 'D-Bus speaks before it is spoken to');
    const rest = this.#authentication.push(bytes);
    if (rest === undefined) return;
    this.#connection = new BusConnection({ clock: this.#clock, transport });
    this.#connection.receive(rest, []);
    this.#settle.resolve(this.#connection);
  }
}
