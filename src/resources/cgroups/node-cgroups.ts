import { describeError, isKind, kindOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { kubepodsCgroup, quotedCgroup, type CgroupName } from '../../model/cgroup-names.ts';
import { nodeEvents } from '../../model/event-reasons.ts';
import { overReserved } from '../../model/node-allocatable.ts';
import { allPodsValues, reservedCgroups, type NodeCgroupSettings } from './node-cgroup-values.ts';
import type { CgroupManager, NodeEvents } from './ports.ts';

interface NodeCgroupsDeps {
  readonly log: Log;
  readonly manager: CgroupManager;
  readonly events: NodeEvents;
  readonly settings: NodeCgroupSettings;
  readonly version: 1 | 2;
  readonly controllers: ReadonlySet<string>;
}

/** The trees of version 1 that limits and usage of pods need. Version 2 may lack any: its limits are left out. */
const neededTrees = ['cpu', 'cpuacct', 'cpuset', 'memory'] as const;

const alternative = 'or set cgroupsPerQOS: false with enforceNodeAllocatable: [] to do without cgroups of pods';

/** The cgroup of all pods, and the cgroups of daemons whose reserves are enforced. */
export class NodeCgroups {
  readonly #deps: NodeCgroupsDeps;
  readonly #name: CgroupName;
  #enforced = false;

  constructor(deps: NodeCgroupsDeps) {
    this.#deps = deps;
    this.#name = kubepodsCgroup(deps.settings.cgroupRoot);
  }

  /** Throws what is wrong with the machine or the configuration before anything is made. */
  check(): void {
    const { manager, settings, version, controllers } = this.#deps;
    const missing = version === 1 ? neededTrees.filter((name) => !controllers.has(name)) : [];
    if (missing.length > 0) {
      const message = `system validation failed - Following Cgroup subsystem not mounted: [${missing.join(' ')}]`;
      throw unfit(`${message}; mount them below /sys/fs/cgroup, ${alternative}`);
    }
    const noRoot = manager.missing(this.#name.slice(0, -1));
    if (noRoot !== undefined) {
      throw unfit(`invalid configuration: ${noRoot}; make this cgroupRoot, leave cgroupRoot unset, ${alternative}`);
    }
    const tooMuch = overReserved(settings.capacity, settings.reserved, settings.evictionHard);
    if (tooMuch.length > 0) {
      throw unfit(`invalid Node Allocatable configuration. ${tooMuch.join(' ')} Reserve less in kubeReserved`);
    }
  }

  /** Throws where the cgroup cannot be made; `enforce` retries limits that cannot be set yet. */
  async make(): Promise<void> {
    try {
      await this.#deps.manager.create(this.#name, {});
    } catch (cause) {
      if (isKind(cause, 'unsupported')) throw cause;
      const remedy = `run as root with the cgroup file systems mounted writable, ${alternative}`;
      throw new TubeletError(kindOf(cause), `cannot make the cgroup of all pods; ${remedy}`, { cause });
    }
  }

  /**
   * Limits all pods together. Pods of an earlier process may use more than is allowed now; the kernel refuses until they are
   * evicted, and every resync retries.
   */
  async enforce(): Promise<void> {
    const { manager, events, settings, log } = this.#deps;
    if (this.#enforced) return;
    try {
      await manager.update(this.#name, allPodsValues(settings));
      this.#enforced = true;
      const message = 'Updated Node Allocatable limit across pods';
      events.record({ type: 'Normal', reason: nodeEvents.nodeAllocatableEnforced, message });
    } catch (error) {
      log.error(error, 'Cannot limit the cgroup of all pods, will try again', { cgroup: manager.pathOf(this.#name) });
      const message = `Failed to update Node Allocatable Limits ${quotedCgroup(this.#name)}: ${describeError(error)}`;
      events.record({ type: 'Warning', reason: nodeEvents.failedNodeAllocatableEnforcement, message });
    }
  }

  /** Throws on failure: the configuration asks for these reserves to be enforced. */
  async enforceReserved(): Promise<void> {
    const { manager, events, settings } = this.#deps;
    for (const { what, compressible, configured, name, values, problem } of reservedCgroups(settings)) {
      try {
        if (problem !== undefined) throw new TubeletError('invalid', problem);
        const missing = manager.missing(name);
        if (missing !== undefined) throw new TubeletError('notFound', `${missing}; make it first`);
        await manager.update(name, values);
      } catch (cause) {
        const message = `Failed to enforce ${what}${compressible ? ' Compressible' : ''} Cgroup Limits on "${configured}"`;
        const full = `${message}: ${describeError(cause)}`;
        events.record({ type: 'Warning', reason: nodeEvents.failedNodeAllocatableEnforcement, message: full });
        throw new TubeletError(kindOf(cause), message, { cause });
      }
      const message = `Updated limits on ${what.toLowerCase()} cgroup ${configured}`;
      events.record({ type: 'Normal', reason: nodeEvents.nodeAllocatableEnforced, message });
    }
  }
}

const unfit = (message: string): TubeletError => new TubeletError('unsupported', message);
