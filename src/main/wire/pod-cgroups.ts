import { TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import { removeCgroup } from '../../host/index.ts';
import { cgroupPath, podCgroup } from '../../model/cgroup-names.ts';
import type { RuntimeSettings } from '../../model/runtime-settings.ts';

const qosClasses = ['Guaranteed', 'Burstable', 'BestEffort'] as const;

/** Removes a pod's cgroups. Where they are depends on a QoS class that nobody may remember, so every place is tried. */
export function podCgroupRemover(settings: Pick<RuntimeSettings, 'cgroupRoot' | 'cgroupDriver' | 'cgroupsPerQos'>): {
  remove(uid: PodUid): Promise<void>;
} {
  return {
    async remove(uid) {
      if (!settings.cgroupsPerQos) return;
      for (const qos of qosClasses) {
        const path = cgroupPath(podCgroup(settings.cgroupRoot, qos, uid), settings.cgroupDriver);
        const removal = await removeCgroup(path);
        if (!removal.removed) {
          const where = removal.busy.join(', ');
          throw new TubeletError('conflict', `processes of pod ${uid} are still in ${where}`);
        }
      }
    },
  };
}
