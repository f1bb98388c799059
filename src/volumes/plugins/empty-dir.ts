import { emptyDirMedium, type MemoryFacts } from '../contents/medium.ts';
import { forGroup, needsChange } from '../contents/ownership.ts';
import type { HostPaths, VolumePlugin } from '../ports.ts';
import type { ScratchFolder, ScratchFolders } from '../scratch-folders.ts';

const folder = 'kubernetes.io~empty-dir';

export interface EmptyDirDeps {
  readonly scratch: ScratchFolders;
  readonly paths: HostPaths;
  readonly memory: () => MemoryFacts;
}

/** emptyDir: a folder that lives as long as the pod, on the node's disk, in memory or in huge pages. */
export function emptyDir({ scratch, paths, memory }: EmptyDirDeps): VolumePlugin {
  const place = (uid: ScratchFolder['uid'], name: string): ScratchFolder => ({ uid, name, folder, mark: name });
  return {
    folder,
    handles: ({ emptyDir: source }) => source !== undefined,
    async setUp({ pod, volume }, signal) {
      const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {};
      const medium = emptyDirMedium(volume.emptyDir ?? {}, pod.spec, memory());
      const hostPath = await scratch.make(place(pod.uid, volume.name), medium, async (path) => {
        if (fsGroup === undefined) return;
        const group = { gid: fsGroup, readOnly: false };
        const top = await paths.lookAt(path);
        if (top === undefined || needsChange(fsGroupChangePolicy, top, group)) {
          await paths.changeTree(path, forGroup(group), signal);
        }
      });
      return { hostPath, selinuxRelabel: true };
    },
    tearDown: ({ uid, name }) => scratch.remove(place(uid, name)),
  };
}
