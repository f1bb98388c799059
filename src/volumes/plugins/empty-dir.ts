import { setVolumeOwnership, type VolumeOwnershipDeps } from '../contents/set-volume-ownership.ts';
import { emptyDirMedium, type MemoryFacts } from '../contents/medium.ts';
import type { VolumePlugin } from '../ports.ts';
import type { ScratchFolder, ScratchFolders } from '../scratch-folders.ts';

const folder = 'kubernetes.io~empty-dir';

interface EmptyDirDeps extends VolumeOwnershipDeps {
  readonly scratch: ScratchFolders;
  readonly memory: () => MemoryFacts;
}

/** emptyDir: a folder that lives as long as the pod, on the node's disk, in memory or in huge pages. */
export function emptyDir(deps: EmptyDirDeps): VolumePlugin {
  const { scratch, memory } = deps;
  const place = (uid: ScratchFolder['uid'], name: string): ScratchFolder => ({ uid, name, folder, mark: name });
  return {
    folder,
    handles: ({ emptyDir: source }) => source !== undefined,
    async setUp({ pod, volume }, signal) {
      const { fsGroup } = pod.spec.securityContext ?? {};
      const medium = emptyDirMedium(volume.emptyDir ?? {}, pod.spec, memory());
      const hostPath = await scratch.make(place(pod.uid, volume.name), medium, async (path) => {
        // Without regard to fsGroupChangePolicy: the folder is new, or left from an interrupted try.
        if (fsGroup !== undefined)
          await setVolumeOwnership(deps, { pod, path, group: { gid: fsGroup, readOnly: false } }, signal);
      });
      return { hostPath, selinuxRelabel: true };
    },
    tearDown: ({ uid, name }) => scratch.remove(place(uid, name)),
  };
}
