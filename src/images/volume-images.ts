import { TubeletError } from '../base/errors.ts';
import { ImageSpec } from '../gen/cri/api.ts';
import type { Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ImageManager } from './image-manager.ts';

/** Images that volumes are made of. */
export interface VolumeImages {
  ensure(request: { readonly pod: DesiredPod; readonly volume: Volume }, signal: AbortSignal): Promise<ImageSpec>;
}

/** Images for volumes are pulled like those of containers, under the same policies and credentials. */
export function volumeImages(images: Pick<ImageManager, 'ensure'>): VolumeImages {
  return {
    async ensure({ pod, volume }, signal) {
      const { reference = '', pullPolicy } = volume.image ?? {};
      const asContainer = { name: volume.name, image: reference, ...(pullPolicy && { imagePullPolicy: pullPolicy }) };
      const answer = await images.ensure(pod, asContainer, '', signal);
      if ('refusal' in answer) throw new TubeletError('unavailable', answer.refusal.message);
      return ImageSpec.fromPartial({ image: answer.ok.ref, userSpecifiedImage: reference });
    },
  };
}
