import type { VolumePlugin } from '../ports.ts';

/** hostPath of the plain type: the node's own path, taken as it is. Nothing of it is ours to make or to remove. */
export function hostPath(): VolumePlugin {
  return {
    handles: (volume) => volume.hostPath !== undefined && (volume.hostPath.type ?? '') === '',
    setUp: async (_uid, volume) => ({ hostPath: volume.hostPath?.path ?? '' }),
    tearDown: async () => {},
  };
}
