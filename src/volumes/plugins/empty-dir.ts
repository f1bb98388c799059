import type { PodPaths } from '../../model/pod-paths.ts';
import type { VolumeFiles, VolumePlugin } from '../ports.ts';

const pluginFolder = 'kubernetes.io~empty-dir';
const folderMode = 0o750;
const parentMode = 0o755;
/** Every container of the pod may write, whatever user it runs as. */
const volumeMode = 0o777;

/** emptyDir on the node's disk: a folder that lives as long as the pod. */
export function emptyDir(files: VolumeFiles, paths: PodPaths): VolumePlugin {
  return {
    handles: (volume) => volume.emptyDir !== undefined && (volume.emptyDir.medium ?? '') === '',
    async setUp(uid, { name }) {
      const hostPath = paths.volume(uid, pluginFolder, name);
      await files.makeFolder(paths.volumes(uid), folderMode);
      await files.makeFolder(`${paths.volumes(uid)}/${pluginFolder}`, parentMode);
      await files.makeFolder(hostPath, volumeMode);
      return { hostPath };
    },
    tearDown: (uid, { name }) => files.removeTree(paths.volume(uid, pluginFolder, name)),
  };
}
