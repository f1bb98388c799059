import type { VolumeImages, VolumePlugin } from '../ports.ts';
import type { ImageVolumeMetrics } from '../volume-metrics.ts';

/** image: the files of an image, which the runtime mounts by itself. The plugin only ensures that the image is present. */
export function imageVolume(images: VolumeImages, metrics: ImageVolumeMetrics): VolumePlugin {
  return {
    handles: ({ image }) => image !== undefined,
    async setUp(request, signal) {
      metrics.requested();
      try {
        const image = await images.ensure(request, signal);
        metrics.mounted();
        return { hostPath: '', readOnly: true, image };
      } catch (error) {
        metrics.failed();
        throw error;
      }
    },
  };
}
