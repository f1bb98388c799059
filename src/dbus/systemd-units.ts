import { reportedCall } from '../base/calls.ts';
import { isKind, kindOf, remoteMessageOf, TubeletError } from '../base/errors.ts';
import { Limiter } from '../base/limiter.ts';
import type { SystemdUnits, UnitProperty } from '../model/systemd-units.ts';
import type { KeptConnection } from './kept-connection.ts';
import type { Manager } from './manager.ts';
import type { BusPorts } from './ports.ts';
import { asMessageValue, propertiesText, versionNumber } from './unit-properties.ts';

interface SystemdDeps extends BusPorts {
  readonly connection: Pick<KeptConnection<Manager>, 'use'>;
}

/** Of calls to systemd at once; it works on one after the other. */
const maxAtOnce = 32;

/** Units over D-Bus. What was under way when the connection was lost is asked for again over the next one. */
export class DBusSystemdUnits implements SystemdUnits {
  readonly #deps: SystemdDeps;
  readonly #limiter = new Limiter(maxAtOnce);
  #version: number | undefined;

  constructor(deps: SystemdDeps) {
    this.#deps = deps;
  }

  async version(): Promise<number | undefined> {
    try {
      this.#version ??= versionNumber(await this.#use('Version', undefined, (manager) => manager.version()));
    } catch (error) {
      this.#deps.log.error(error, 'unable to get systemd version');
    }
    return this.#version;
  }

  async startTransientUnit(name: string, properties: readonly UnitProperty[]): Promise<'started' | 'existed'> {
    const body = [name, 'replace', properties.map(asMessageValue), []];
    let begun = false;
    try {
      const result = await this.#use('StartTransientUnit', name, async (manager) => {
        try {
          return await manager.runJob('StartTransientUnit', 'ssa(sv)a(sa(sv))', body, () => (begun = true));
        } catch (error) {
          if (!isKind(error, 'alreadyExists')) throw error;
          // It may be known without being active: as failed, by properties set for it, or by a call of ours that was
          // lost with its connection. For an active unit this is nothing to do.
          const result = await manager.runJob('StartUnit', 'ss', [name, 'replace']);
          return result === 'done' && !begun ? 'existed' : result;
        }
      });
      if (result === 'existed') return 'existed';
      if (result === 'done') return 'started';
      throw new TubeletError('internal', `error creating systemd unit \`${name}\`: got \`${result}\``);
    } catch (error) {
      if (begun) await this.#resetFailed(name);
      throw startError(error, name, properties, begun);
    }
  }

  async setUnitProperties(name: string, properties: readonly UnitProperty[]): Promise<void> {
    const body = [name, true, properties.map(asMessageValue)];
    try {
      await this.#use('SetUnitProperties', name, (manager) => manager.call('SetUnitProperties', 'sba(sv)', body));
    } catch (error) {
      throw described(error, `unable to set unit properties: ${remoteMessageOf(error)}`);
    }
  }

  async stopUnit(name: string): Promise<void> {
    let result: string;
    try {
      result = await this.#use('StopUnit', name, (manager) => manager.runJob('StopUnit', 'ss', [name, 'replace']));
    } catch (error) {
      if (isKind(error, 'timeout')) throw described(error, `Timed out while waiting for systemd to remove ${name}`);
      if (!isKind(error, 'notFound')) throw described(error, `unable to stop unit ${name}: ${remoteMessageOf(error)}`);
      result = 'done';
    }
    if (result !== 'done') this.#deps.log.warn('Error removing a systemd unit, continuing', { unit: name, result });
    await this.#resetFailed(name);
  }

  #use<T>(verb: string, unit: string | undefined, work: (manager: Manager) => Promise<T>): Promise<T> {
    const { calls, connection } = this.#deps;
    const call = { system: 'systemd' as const, verb, ...(unit === undefined ? {} : { subject: unit }) };
    return this.#limiter.run(() => reportedCall(calls, call, () => connection.use(work)));
  }

  /** So that the name can be used again. Mostly systemd has forgotten the unit by now. */
  async #resetFailed(name: string): Promise<void> {
    try {
      await this.#use('ResetFailedUnit', name, (manager) => manager.call('ResetFailedUnit', 's', [name]));
    } catch (error) {
      if (!isKind(error, 'notFound'))
        this.#deps.log.debug(4, 'Failed to reset a failed unit', { unit: name, err: error });
    }
  }
}

function startError(error: unknown, name: string, properties: readonly UnitProperty[], begun: boolean): unknown {
  if (begun && isKind(error, 'timeout')) return described(error, `Timeout waiting for systemd to create ${name}`);
  if (error instanceof TubeletError && error.message.startsWith('error creating systemd unit')) return error;
  const what = `unable to start unit "${name}" (properties ${propertiesText(properties)})`;
  return described(error, `${what}: ${remoteMessageOf(error)}`);
}

function described(error: unknown, message: string): TubeletError {
  return new TubeletError(kindOf(error), message, { cause: error });
}
