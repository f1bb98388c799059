import type { Component } from '../../base/component.ts';
import { TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { cgroupPath, podCgroup } from '../../model/cgroup-names.ts';
import type { PodContainerManager, RemoveEmpty } from './ports.ts';

interface SystemdSlicesDeps {
  readonly log: Log;
  readonly removeEmpty: RemoveEmpty;
  readonly cgroupRoot: string;
}

/** The slices of pods, which systemd makes when the runtime asks for the first container in one. This only removes them. */
export class SystemdSlices implements PodContainerManager, Component {
  readonly name = 'pod-cgroups';
  readonly #deps: SystemdSlicesDeps;

  constructor(deps: SystemdSlicesDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const message = 'With cgroupDriver systemd the slices of pods are made by the runtime, without limits of their own';
    this.#deps.log.warn(message, {
      notEnforced: ['enforceNodeAllocatable', 'podPidsLimit', 'qosReserved', 'limits of whole pods'],
    });
  }

  async stop(): Promise<void> {}

  exist(): boolean {
    return true;
  }

  async ensure(): Promise<void> {}

  async remove(uid: PodUid): Promise<void> {
    const { removeEmpty, cgroupRoot } = this.#deps;
    for (const qos of ['Guaranteed', 'Burstable', 'BestEffort'] as const) {
      const removal = await removeEmpty(cgroupPath(podCgroup(cgroupRoot, qos, uid), 'systemd'));
      if (removal.removed) continue;
      throw new TubeletError('conflict', `processes of pod ${uid} are still in ${removal.busy.join(', ')}`);
    }
  }
}
