import type { OpenTransport } from '../../dbus/ports.ts';
import { encodeMessage, type Message, type MessageHeader } from '../../dbus/message.ts';
import { TubeletError } from '../../base/errors.ts';
import { textOf, type DBusValue } from '../../dbus/values.ts';
import { FakeBusClient, type FakeDescriptor } from './fake-bus-client.ts';

export interface BusReply {
  readonly errorName?: string;
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
  readonly descriptors?: readonly FakeDescriptor[];
}

/** A program on the bus. Answers undefined where it never answers. */
export type BusService = (call: Message) => BusReply | undefined | Promise<BusReply | undefined>;

export interface SignalContent {
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
}

const busName = 'org.freedesktop.DBus';
/** Where programs serve. */
export interface ServiceBus {
  direct: BusService | undefined;
  serve(name: string, service: BusService | undefined): void;
  signal(name: string, content: SignalContent): void;
}

export const busSocket = '/var/run/dbus/system_bus_socket';
const systemdSocket = '/run/systemd/private';
const systemdName = 'org.freedesktop.systemd1';

/** A bus in memory, and the socket of its own that systemd has. Names, matches and signals are as a real one has them. */
export class FakeBus implements ServiceBus {
  readonly #clients = new Set<FakeBusClient>();
  readonly #services = new Map<string, { readonly owner: string; readonly service: BusService }>();
  /** What serves at systemd's own socket. */
  direct: BusService | undefined;
  /** Sockets that take no connections. */
  readonly refused = new Set<string>();
  /** Sockets that take connections and never say anything. */
  readonly silent = new Set<string>();
  /** Sockets that were connected to, in order. */
  readonly opened: string[] = [];
  /** Calls that came, of the bus and of services, in order. */
  readonly calls: string[] = [];
  #lastName = 0;
  #lastSerial = 0;

  readonly open: OpenTransport = async (socketName, events) => {
    await Promise.resolve();
    this.opened.push(socketName);
    if (this.refused.has(socketName) || ![busSocket, systemdSocket].includes(socketName)) {
      throw new TubeletError('unavailable', `cannot connect to ${socketName}: refused`);
    }
    const client = new FakeBusClient({
      events,
      name: socketName === busSocket ? this.#newName() : undefined,
      silent: this.silent.has(socketName),
      onMessage: (from, message) => void this.#route(from, message),
      onEnd: (from) => void this.#clients.delete(from),
    });
    this.#clients.add(client);
    return client;
  };

  get connections(): number {
    return this.#clients.size;
  }

  /** Rules that clients have set. */
  get matches(): readonly string[] {
    return [...this.#clients].flatMap(({ matches }) => matches);
  }

  /** A program takes a name; undefined takes it away. */
  serve(name: string, service: BusService | undefined): void {
    const before = this.#services.get(name)?.owner ?? '';
    if (service === undefined) this.#services.delete(name);
    else this.#services.set(name, { owner: this.#newName(), service });
    const after = this.#services.get(name)?.owner ?? '';
    this.#broadcast(busName, undefined, {
      path: '/org/freedesktop/DBus',
      interface: busName,
      member: 'NameOwnerChanged',
      signature: 'sss',
      body: [name, before, after],
    });
  }

  /** A signal of the program that has the name, to all that match it. */
  signal(name: string, content: SignalContent): void {
    const owner = this.#services.get(name)?.owner;
    if (owner !== undefined) this.#broadcast(owner, name, content);
    if (name !== systemdName) return;
    for (const client of this.#clients) {
      if (client.name === undefined) this.#send(client, { ...content, type: 'signal' }, content);
    }
  }

  /** A signal that another program sends straight to every client. */
  forge(content: SignalContent): void {
    for (const client of this.#clients) this.#send(client, { ...content, type: 'signal', sender: ':1.666' }, content);
  }

  /** The bus ends; clients see their sockets closed. */
  drop(): void {
    for (const client of this.#clients) client.drop();
  }

  async #route(from: FakeBusClient, message: Message): Promise<void> {
    if (message.type !== 'call') return;
    this.calls.push(message.member ?? '');
    const direct = from.name === undefined;
    if (!direct && message.destination === busName) this.#answer(from, message, busName, this.#busCall(from, message));
    else {
      const name = message.destination ?? '';
      const found = direct ? { service: this.direct, owner: undefined } : this.#services.get(name);
      const reply = found?.service === undefined ? unknownService(name) : await found.service(message);
      if (reply !== undefined) this.#answer(from, message, found?.owner, reply);
    }
  }

  #busCall(from: FakeBusClient, call: Message): BusReply {
    const { member } = call;
    const text = call.signature === '' ? '' : textOf(call.body()[0]);
    if (member === 'Hello') return { signature: 's', body: [from.name ?? ''] };
    if (member === 'AddMatch') from.matches.push(text);
    else if (member === 'RemoveMatch') from.matches.splice(from.matches.indexOf(text), 1);
    else if (member === 'GetNameOwner') {
      const owner = this.#services.get(text)?.owner;
      return owner === undefined ? unknownService(text) : { signature: 's', body: [owner] };
    }
    return {};
  }

  #answer(to: FakeBusClient, call: Message, sender: string | undefined, reply: BusReply): void {
    const type = reply.errorName === undefined ? 'return' : 'error';
    const unixFds = reply.descriptors?.length;
    const header = { type, errorName: reply.errorName, replySerial: call.serial, sender, unixFds } as const;
    this.#send(to, header, reply, reply.descriptors);
  }

  #broadcast(owner: string, name: string | undefined, content: SignalContent): void {
    for (const client of this.#clients) {
      const wanted = client.matches.some((rule) => matches(rule, owner, name, content));
      if (wanted) this.#send(client, { ...content, type: 'signal', sender: owner }, content);
    }
  }

  #send(
    to: FakeBusClient,
    header: MessageHeader,
    { signature, body }: BusReply,
    descriptors: readonly FakeDescriptor[] = [],
  ): void {
    to.send(encodeMessage(header, ++this.#lastSerial, signature, body), descriptors);
  }

  #newName(): string {
    return `:1.${++this.#lastName}`;
  }
}

function unknownService(name: string): BusReply {
  const errorName = `${busName}.Error.ServiceUnknown`;
  return { errorName, signature: 's', body: [`The name ${name} was not provided by any .service files`] };
}

/** Whether a rule lets a signal through. */
function matches(rule: string, owner: string, name: string | undefined, content: SignalContent): boolean {
  const wanted = new Map([...rule.matchAll(/(\w+)='([^']*)'/g)].map((match) => [match[1], match[2]]));
  const has: Readonly<Record<string, unknown>> = {
    type: 'signal',
    path: content.path,
    interface: content.interface,
    member: content.member,
    arg0: content.body?.[0],
  };
  return [...wanted].every(([key = '', value]) =>
    key === 'sender' ? value === owner || value === name : has[key] === value,
  );
}
