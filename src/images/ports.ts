import type { CallOptions } from '../base/call.ts';
import type { ImageStatusRequest, ImageStatusResponse, PullImageRequest, PullImageResponse } from '../gen/cri/api.ts';
import type { DesiredPod } from '../model/desired-pod.ts';

/** What pulling needs of the runtime's image service. */
export interface ImageService {
  imageStatus(request: ImageStatusRequest, options?: CallOptions): Promise<ImageStatusResponse>;
  pullImage(request: PullImageRequest, options?: CallOptions): Promise<PullImageResponse>;
}

export interface ImageEvents {
  record(
    pod: DesiredPod,
    event: {
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly message: string;
      readonly fieldPath?: string;
    },
  ): void;
}
