import type { VolumeImages, VolumePlugin } from '../ports.ts';

/** image: the files of an image, which the runtime mounts by itself. All there is to do is to have it on the node. */
export function imageVolume(images: VolumeImages): VolumePlugin {
  return {
    handles: ({ image }) => image !== undefined,
    setUp: async (request, signal) => ({ hostPath: '', readOnly: true, image: await images.ensure(request, signal) }),
  };
}
