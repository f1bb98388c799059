import assert from 'node:assert/strict';
import { ImageSpec } from '../../gen/cri/api.ts';
import type { Examine } from './world.ts';

const absent = ImageSpec.fromPartial({ image: 'localhost/no/such:image' });

export function imageTests(examine: Examine): void {
  examine('an image is known by name and by id', async ({ subject: { cri, image } }) => {
    const byName = await cri.imageStatus({ image: ImageSpec.fromPartial({ image }), verbose: false });
    assert.match(byName.image?.id ?? '', /^(?:sha256:)?[0-9a-f]{64}$/);
    assert.ok((byName.image?.size ?? 0n) > 0n);
    assert.ok((byName.image?.repoTags ?? []).some((tag) => tag.endsWith(image)));
    const byId = await cri.imageStatus({
      image: ImageSpec.fromPartial({ image: byName.image?.id ?? '' }),
      verbose: false,
    });
    assert.equal(byId.image?.id, byName.image?.id);
    const { images } = await cri.listImages({ filter: undefined });
    assert.ok(images.some((listed) => listed.id === byName.image?.id));
    // The filter of this list is a hint that containerd does not take.
    const filtered = await cri.listImages({ filter: { image: ImageSpec.fromPartial({ image }) } });
    assert.ok(filtered.images.some((listed) => listed.id === byName.image?.id));
  });

  examine('an image that is not there is no error, and is already removed', async ({ subject: { cri } }) => {
    assert.equal((await cri.imageStatus({ image: absent, verbose: false })).image, undefined);
    await cri.removeImage({ image: absent });
  });

  examine('the file system of the images is known', async ({ subject: { cri } }) => {
    const { imageFilesystems } = await cri.imageFsInfo({});
    assert.match(imageFilesystems[0]?.fsId?.mountpoint ?? '', /^\//);
    assert.ok((imageFilesystems[0]?.timestamp ?? 0n) > 0n);
  });
}
