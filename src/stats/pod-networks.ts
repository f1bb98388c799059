import type { PodUid } from '../base/ids.ts';
import type { PerPodState } from '../model/pod-removal.ts';
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

/** The process of a sandbox is the same for as long as the sandbox is ready. */
interface SandboxProcess {
  readonly sandbox: string;
  readonly pid: number;
}

/** What has gone through the networks of pods, as a process of the pod sees it. */
export class PodNetworks implements PerPodState {
  readonly #deps: PodNetworksDeps;
  readonly #processes = new Map<PodUid, SandboxProcess>();

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

  forget(uid: PodUid): void {
    this.#processes.delete(uid);
  }

  size(): number {
    return this.#processes.size;
  }

  #containerPid(containers: readonly ReadContainer[]): number | undefined {
    for (const { usage } of containers) {
      const [pid] = this.#deps.cgroups.processes(usage.path);
      if (pid !== undefined) return pid;
    }
    return undefined;
  }

  #sandboxPid({ uid, sandbox, cgroup }: PodTarget): number | undefined {
    if (sandbox === undefined) return undefined;
    const known = this.#processes.get(uid);
    if (known?.sandbox === sandbox.id) return known.pid;
    const { cgroups, containerCgroups } = this.#deps;
    const pid = containerCgroups.find(cgroup, sandbox.id, (path) => cgroups.processes(path)[0]);
    if (pid !== undefined) this.#processes.set(uid, { sandbox: sandbox.id, pid });
    return pid;
  }
}
