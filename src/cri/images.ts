import {
  ImageServiceService as service,
  type ImageFsInfoRequest,
  type ImageFsInfoResponse,
  type ImageStatusRequest,
  type ImageStatusResponse,
  type ListImagesRequest,
  type ListImagesResponse,
  type PullImageRequest,
  type PullImageResponse,
  type RemoveImageRequest,
  type RemoveImageResponse,
} from '../gen/cri/api.ts';
import { imageStatusFlaw, textFlaw } from './answers.ts';
import { unlimited } from './deadline.ts';
import type { Binder, Call } from './invoke.ts';

/** The image store, which may be another process than the runtime. */
export interface ImageCalls {
  /** The filter is a hint: containerd answers with all images. */
  readonly listImages: Call<ListImagesRequest, ListImagesResponse>;
  /** The answer for a missing image has no `image`; it is not an error. */
  readonly imageStatus: Call<ImageStatusRequest, ImageStatusResponse>;
  /** Has no deadline: layers are large and links are slow. */
  readonly pullImage: Call<PullImageRequest, PullImageResponse>;
  readonly removeImage: Call<RemoveImageRequest, RemoveImageResponse>;
  readonly imageFsInfo: Call<ImageFsInfoRequest, ImageFsInfoResponse>;
}

export function imageCalls(bind: Binder): ImageCalls {
  return {
    listImages: bind('listImages', service.listImages),
    imageStatus: bind('imageStatus', service.imageStatus, { flaw: imageStatusFlaw }),
    pullImage: bind('pullImage', service.pullImage, {
      limitMs: unlimited,
      flaw: ({ imageRef }) => textFlaw('image_ref', imageRef),
    }),
    removeImage: bind('removeImage', service.removeImage, { notFoundIs: {} }),
    imageFsInfo: bind('imageFsInfo', service.imageFsInfo),
  };
}
