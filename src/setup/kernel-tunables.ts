import type { Component } from '../base/component.ts';
import { describeError, isKind, TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import {
  faultText,
  planTunables,
  wantedTunables,
  type Reading,
  type TunablesMode,
  type TunablesPlan,
} from './plan-tunables.ts';
import type { KernelTunables, OwnProcess } from './ports.ts';

interface TunableSetupDeps {
  readonly log: Log;
  readonly tunables: KernelTunables;
  readonly process: Pick<OwnProcess, 'inUserNamespace'>;
  readonly mode: TunablesMode;
  /** The feature gate KubeletInUserNamespace: there the kernel's settings belong to others, and that is no news. */
  readonly expectsUserNamespace: boolean;
}

/** Brings the kernel's settings to what pods need before any pod starts; fails the start where it must not or cannot. */
export class TunableSetup implements Component {
  readonly name = 'kernel-tunables';
  readonly #deps: TunableSetupDeps;

  constructor(deps: TunableSetupDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { mode } = this.#deps;
    const readings = mode === 'keep' ? new Map<string, Reading>() : this.#readings();
    const { writes, faults } = planTunables(readings, mode);
    const failed = [...faults, ...this.#write(writes)];
    if (failed.length > 0) throw new TubeletError('unsupported', faultText(failed));
  }

  async stop(): Promise<void> {}

  #readings(): ReadonlyMap<string, Reading> {
    const { tunables } = this.#deps;
    const read = (name: string): Reading => {
      try {
        return { value: tunables.read(name).trim() };
      } catch (error) {
        return { error: describeError(error) };
      }
    };
    return new Map([...wantedTunables.keys()].map((name) => [name, read(name)]));
  }

  /** Answers what failed; what the agent may not write stays as it is, and is named together. */
  #write(writes: TunablesPlan['writes']): readonly string[] {
    const { log, tunables } = this.#deps;
    const faults: string[] = [];
    const denied: string[] = [];
    for (const { name, from, to } of writes) {
      try {
        tunables.write(name, to);
        log.info('Updating kernel flag', { flag: name, expectedValue: to, actualValue: from });
      } catch (error) {
        if (isKind(error, 'denied')) denied.push(`${name} is ${from} instead of ${to}`);
        else faults.push(describeError(error));
      }
    }
    this.#nameDenied(denied);
    return faults;
  }

  #nameDenied(flags: readonly string[]): void {
    const { log, process, expectsUserNamespace } = this.#deps;
    if (flags.length === 0) return;
    if (process.inUserNamespace() && expectsUserNamespace) {
      log.debug(2, 'Updating kernel flag failed (running in UserNS, ignoring)', { flags });
      return;
    }
    log.warn('Kernel flags cannot be changed for lack of privilege', {
      flags,
      lost: 'allocations may fail that limits permit, and a broken kernel may hang instead of starting anew',
    });
  }
}
