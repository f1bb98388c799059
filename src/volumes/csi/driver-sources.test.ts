import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { CSIDriver } from '../../gen/kubernetes/types.ts';
import { mayBeAttached, mirroredDriverObjects } from './driver-objects.ts';
import { fetchSecrets, secretsOfApi, secretsOfObjects } from './driver-secrets.ts';

const never = new AbortController().signal;
const object: CSIDriver = { metadata: { name: 'd' }, spec: {} };
const secret = { data: { user: Buffer.from('me').toString('base64') } };

test('a driver that the cluster does not have differs from a cluster that has not answered yet', () => {
  let isSynced = false;
  const objects = mirroredDriverObjects({
    synced: () => isSynced,
    get: ({ name }) => (name === 'd' ? object : undefined),
  });
  assert.throws(() => objects.get('d'), { kind: 'unavailable', message: 'CSIDrivers has not been synced yet' });
  isSynced = true;
  assert.deepEqual([objects.get('d'), objects.get('other')], [object, undefined]);
});

for (const [what, objects, isSo] of [
  ['on a node without a cluster', undefined, false],
  ['by the driver’s reference not', { get: () => ({ spec: { attachRequired: false } }) }, false],
  ['of a driver that says nothing of it', { get: () => ({ spec: {} }) }, true],
  ['of a driver without an object', { get: () => undefined }, true],
  ['before the objects have arrived', mirroredDriverObjects({ synced: () => false, get: () => undefined }), true],
] as const) {
  test(`whether volumes may be attached ${what}: ${isSo}`, () => {
    assert.equal(mayBeAttached(objects, 'csi.example.com'), isSo);
  });
}

test('an error of the mirror itself is thrown', () => {
  const broken = {
    get: (): never => {
      throw new TubeletError('internal', 'broken');
    },
  };
  assert.throws(() => mayBeAttached(broken, 'csi.example.com'), { message: 'broken' });
});

test('secrets of the API server, as text', async () => {
  const asked: unknown[] = [];
  const secrets = secretsOfApi({
    async get<T>(...[{ plural }, ref]: readonly [{ readonly plural: string }, object, ...unknown[]]) {
      asked.push([plural, ref]);
      return secret as T;
    },
  });
  const reference = { namespace: 'n', name: 's' };
  assert.deepEqual(await fetchSecrets(secrets, 'NodeStageSecretRef', reference, never), { user: 'me' });
  assert.deepEqual(asked, [['secrets', reference]]);
  assert.deepEqual(await fetchSecrets(secrets, 'NodeStageSecretRef', undefined, never), {});
});

test('a missing one is reported with the field that names it', async () => {
  const failing = {
    get: async () =>
      Promise.reject(new TubeletError('notFound', 'GET: no', { remoteMessage: 'secrets "s" not found' })),
  };
  await assert.rejects(fetchSecrets(failing, 'NodePublishSecretRef', { namespace: 'n', name: 's' }, never), {
    kind: 'notFound',
    message: 'fetching NodePublishSecretRef n/s failed: secrets "s" not found',
  });
});

test('secrets of a node without a cluster', async () => {
  const objects = { secret: (_: string, name: string) => (name === 's' ? secret : undefined) };
  const secrets = secretsOfObjects(objects);
  assert.deepEqual(await secrets.get('n', 's', never), { user: 'me' });
  await assert.rejects(secrets.get('n', 'other', never), { message: 'secret "other" not found' });
});
