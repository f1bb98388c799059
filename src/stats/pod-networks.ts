import type { CgroupUsage, InterfaceUsage } from '../model/usage.ts';
import type { ContainerCgroups } from './container-cgroups.ts';
import type { CgroupReader, MachineReader } from './ports.ts';
import type { PodTarget } from './targets.ts';

interface PodNetworksDeps {
  readonly cgroups: Pick<CgroupReader, 'processes'>;
  readonly machine: Pick<MachineReader, 'interfaces'>;
  readonly containerCgroups: ContainerCgroups;
}

/** A container whose cgroup was found. */
interface ReadContainer {
  readonly usage: Pick<CgroupUsage, 'path'>;
}

/** The traffic of pods' networks, as a process of the pod sees it. */
export class PodNetworks {
  readonly #deps: PodNetworksDeps;

  constructor(deps: PodNetworksDeps) {
    this.#deps = deps;
  }

  /**
   * By the sandbox's process, or by one of a container where the runtime gives sandboxes none. Undefined for a pod on the
   * node's network.
   */
  of(pod: PodTarget, containers: readonly ReadContainer[]): readonly InterfaceUsage[] | undefined {
    if (pod.hostNetwork) return undefined;
    const pid = this.#sandboxPid(pod) ?? this.#containerPid(containers);
    return pid === undefined ? [] : this.#deps.machine.interfaces(pid);
  }

  #containerPid(containers: readonly ReadContainer[]): number | undefined {
    for (const { usage } of containers) {
      const [pid] = this.#deps.cgroups.processes(usage.path);
      if (pid !== undefined) return pid;
    }
    return undefined;
  }

  #sandboxPid({ sandbox, cgroup }: PodTarget): number | undefined {
    const { cgroups, containerCgroups } = this.#deps;
    return sandbox && containerCgroups.find(cgroup, sandbox.id, (path) => cgroups.processes(path)[0]);
  }
}
