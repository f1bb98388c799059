export { emptyDir } from './plugins/empty-dir.ts';
export { hostPath } from './plugins/host-path.ts';
export type { MountedVolume, VolumeFiles, VolumePlugin } from './ports.ts';
export { VolumeManager } from './volume-manager.ts';
