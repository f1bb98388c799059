import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import { aPod } from '../testing/pods.ts';
import { volumeImages } from './volume-images.ts';

test('an image of a volume is pulled like that of a container, and a refusal is a failure of the volume', async () => {
  const asked: unknown[] = [];
  const volume = { name: 'model', image: { reference: 'r/model:1', pullPolicy: 'Always' } };
  const never = new AbortController().signal;
  const images = volumeImages({
    async ensure(_pod, container) {
      asked.push(container);
      return { ok: { ref: 'sha256:1', user: {} } };
    },
  });
  const { image, userSpecifiedImage } = await images.ensure({ pod: aPod(), volume }, never);
  assert.deepEqual([image, userSpecifiedImage], ['sha256:1', 'r/model:1']);
  assert.deepEqual(asked, [{ name: 'model', image: 'r/model:1', imagePullPolicy: 'Always' }]);
  const refused = volumeImages({ ensure: async () => ({ refusal: { reason: 'ErrImagePull', message: 'no' } }) });
  await assert.rejects(refused.ensure({ pod: aPod(), volume }, never), new TubeletError('unavailable', 'no'));
});
