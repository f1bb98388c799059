import { reportedCall } from '../base/calls.ts';
import type { Logind } from '../model/logind.ts';
import type { KeptConnection } from './kept-connection.ts';
import type { Manager } from './manager.ts';
import type { Message } from './message.ts';
import type { Peer } from './peer.ts';
import type { BusPorts, Descriptor } from './ports.ts';
import { MalformedMessage, type DBusValue } from './values.ts';

interface LogindDeps extends BusPorts {
  readonly connection: Pick<KeptConnection<Peer>, 'use'>;
  readonly systemd: Pick<KeptConnection<Manager>, 'use'>;
  /** A new connection that can receive descriptors, which kept ones cannot. */
  readonly dialForDescriptors: () => Promise<Peer>;
}

export const logindName = 'org.freedesktop.login1';
const path = '/org/freedesktop/login1';
const managerInterface = 'org.freedesktop.login1.Manager';
const hangup = 1;

/** logind over D-Bus. */
export class DBusLogind implements Logind {
  readonly #deps: LogindDeps;

  constructor(deps: LogindDeps) {
    this.#deps = deps;
  }

  async inhibitDelayMaxMs(): Promise<number> {
    const micros = await this.#property('InhibitDelayMaxUSec');
    if (typeof micros !== 'bigint') throw new MalformedMessage('InhibitDelayMaxUSec is no number');
    return Number(micros) / 1_000;
  }

  async isShuttingDown(): Promise<boolean> {
    const preparing = await this.#property('PreparingForShutdown');
    if (typeof preparing !== 'boolean') throw new MalformedMessage('PreparingForShutdown is neither true nor false');
    return preparing;
  }

  inhibitShutdown(who: string, why: string): Promise<{ release(): void }> {
    return this.#call('Inhibit', () => this.#inhibit(who, why));
  }

  async #inhibit(who: string, why: string): Promise<{ release(): void }> {
    const peer = await this.#deps.dialForDescriptors();
    try {
      const what = ['shutdown', who, why, 'delay'];
      const { body, descriptors } = await peer.call(path, `${managerInterface}.Inhibit`, 'ssss', what);
      const [lock, ...others] = descriptors;
      for (const other of others) other.close();
      if (lock === undefined || body[0] !== 0) {
        lock?.close();
        throw new MalformedMessage('Inhibit answered without a descriptor');
      }
      return heldLock(lock);
    } finally {
      // The lock is held by its descriptor alone.
      peer.close();
    }
  }

  async watchShutdown(
    onChange: (active: boolean) => void,
    signal: AbortSignal,
  ): Promise<{ readonly lost: Promise<void> }> {
    signal.throwIfAborted();
    return this.#deps.connection.use(async (peer) => {
      const listener = (message: Message): void => this.#heard(message, onChange);
      const end = await peer.onSignal({ path, interface: managerInterface, member: 'PrepareForShutdown' }, listener);
      const lost = new Promise<void>((resolve) => {
        const stop = (): void => {
          signal.removeEventListener('abort', stop);
          end();
          resolve();
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
        void peer.closed.then(stop);
      });
      return { lost };
    });
  }

  async reload(): Promise<void> {
    const body = ['systemd-logind.service', 'all', hangup];
    await this.#call('KillUnit', () => this.#deps.systemd.use((manager) => manager.call('KillUnit', 'ssi', body)));
  }

  #property(property: string): Promise<DBusValue | undefined> {
    const ask = (peer: Peer) => peer.property(path, managerInterface, property);
    return this.#call(property, () => this.#deps.connection.use(ask));
  }

  #call<T>(verb: string, work: () => Promise<T>): Promise<T> {
    return reportedCall(this.#deps.calls, { system: 'systemd', verb, subject: logindName }, work);
  }

  #heard(message: Message, onChange: (active: boolean) => void): void {
    const [active] = message.signature === 'b' ? message.body() : [];
    if (typeof active === 'boolean') onChange(active);
    else
      this.#deps.log.warn('PrepareForShutdown does not say whether the machine goes down', {
        signature: message.signature,
      });
  }
}

function heldLock(lock: Descriptor): { release(): void } {
  return { release: () => lock.close() };
}
