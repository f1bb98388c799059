import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authentication } from '../../src/dbus/authentication.ts';
import { MessageSplitter } from '../../src/dbus/message-splitter.ts';
import { encodeMessage, type Message, type MessageHeader } from '../../src/dbus/message.ts';
import type { DBusValue } from '../../src/dbus/values.ts';
import type { BusService, ServiceBus, SignalContent } from '../../src/testing/fake-bus/fake-bus.ts';
import { until } from './real-wait.ts';

/** dbus-daemon with a configuration of its own, and programs of the test on it. */
export class RealBus implements ServiceBus {
  direct: BusService | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), 'tubelet-bus-'));
  readonly #programs = new Map<string, { readonly service: BusService; program: BusProgram }>();
  #daemon: ChildProcess | undefined;

  get socket(): string {
    return join(this.#folder, 'socket');
  }

  get environment(): Readonly<Record<string, string>> {
    return { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${this.socket}` };
  }

  async start(): Promise<void> {
    const configuration = join(this.#folder, 'bus.conf');
    writeFileSync(
      configuration,
      `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig><listen>unix:path=${this.socket}</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
      </busconfig>`,
    );
    rmSync(this.socket, { force: true });
    const words = [`--config-file=${configuration}`, '--nofork', '--nopidfile', '--print-address'];
    this.#daemon = spawn('dbus-daemon', words, { stdio: ['ignore', 'pipe', 'ignore'] });
    if (this.#daemon.stdout !== null) await once(this.#daemon.stdout, 'data');
    for (const [name, entry] of this.#programs) entry.program = await this.#appeared(name, entry.service);
  }

  async stop(): Promise<void> {
    const daemon = this.#daemon;
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true });
  }

  serve(name: string, service: BusService | undefined): void {
    this.#programs.get(name)?.program.end();
    this.#programs.delete(name);
    if (service === undefined) return;
    const program = new BusProgram(this.socket, name, service);
    this.#programs.set(name, { service, program });
  }

  /** Resolves when a program has its name. */
  async served(name: string): Promise<void> {
    await this.#programs.get(name)?.program.named;
  }

  signal(name: string, content: SignalContent): void {
    this.#programs.get(name)?.program.signal(content);
  }

  async #appeared(name: string, service: BusService): Promise<BusProgram> {
    const program = new BusProgram(this.socket, name, service);
    await until(`${name} is on the bus`, () => program.named);
    return program;
  }
}

/** A program on the bus that answers calls. */
class BusProgram {
  /** Resolves when it has its name. */
  readonly named: Promise<true>;
  readonly #socket: Socket;
  readonly #splitter = new MessageSplitter();
  #authentication: Authentication | undefined = new Authentication({
    uid: process.getuid?.() ?? 0,
    descriptors: false,
  });
  #lastSerial = 0;

  constructor(path: string, name: string, service: BusService) {
    this.#socket = connect(path);
    this.#socket.write(this.#authentication?.lines ?? '');
    this.#socket.on('error', () => {});
    this.named = new Promise((resolve) => {
      this.#socket.on('data', (bytes) => {
        const messages = this.#authentication?.push(bytes) ?? (this.#authentication === undefined ? bytes : undefined);
        if (messages === undefined) return;
        if (this.#authentication !== undefined) {
          this.#authentication = undefined;
          this.#toBus('Hello');
          this.#toBus('RequestName', 'su', [name, 4]);
        }
        for (const message of this.#splitter.push(messages)) {
          // The second answer is that to RequestName.
          if (message.type === 'return' && message.replySerial === 2) resolve(true);
          if (message.type === 'call') void this.#answer(message, service);
        }
      });
    });
  }

  signal({ signature, body, ...names }: SignalContent): void {
    this.#send({ ...names, type: 'signal' }, signature, body);
  }

  end(): void {
    this.#socket.destroy();
  }

  async #answer(call: Message, service: BusService): Promise<void> {
    const reply = await service(call);
    if (reply === undefined) return;
    const { errorName, signature, body } = reply;
    const type = errorName === undefined ? 'return' : 'error';
    this.#send({ type, errorName, replySerial: call.serial, destination: call.sender }, signature, body);
  }

  #toBus(member: string, signature?: string, body?: readonly DBusValue[]): void {
    const name = 'org.freedesktop.DBus';
    this.#send(
      { type: 'call', destination: name, path: '/org/freedesktop/DBus', interface: name, member },
      signature,
      body,
    );
  }

  #send(header: MessageHeader, signature?: string, body?: readonly DBusValue[]): void {
    this.#socket.write(encodeMessage(header, ++this.#lastSerial, signature, body));
  }
}
