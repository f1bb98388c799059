import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { Volume } from '../../gen/kubernetes/types.ts';
import { aClaim, aPersistentVolume, MemoryClaims } from '../../testing/persistent-volumes.ts';
import { aPod } from '../../testing/pods.ts';
import { UnprocessedVolumeError, VolumeStepError } from '../volume-failures.ts';
import { VolumeClaims } from './volume-claims.ts';

const never = new AbortController().signal;
const volume: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'data' } };
const ephemeral: Volume = { name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } };

function setUp(labels: Readonly<Record<string, string>> | undefined = {}) {
  const api = new MemoryClaims();
  const claims = new VolumeClaims({ api, nodeLabels: () => labels });
  const resolve = (which: Volume = volume) => claims.resolve(aPod(), which, never);
  const refused = async (words: string, which?: Volume): Promise<void> => {
    await assert.rejects(resolve(which), (error) => {
      assert.ok(error instanceof UnprocessedVolumeError);
      assert.equal(error.message, words);
      return true;
    });
  };
  return { api, claims, resolve, refused };
}

describe('what is behind a claim', () => {
  test('reads two objects, each by its name', async () => {
    const { api, resolve } = setUp();
    api.put('data', { local: { path: '/mnt' } });
    const { name, source } = await resolve();
    assert.deepEqual([name, source], ['pv-data', { kind: 'local', local: { path: '/mnt' } }]);
    assert.deepEqual(api.asked, ['persistentvolumeclaims/data', 'persistentvolumes/pv-data']);
  });

  test('what is missing or unbound fails with upstream’s message', async () => {
    const { api, refused } = setUp();
    await refused(
      'error processing PVC default/data: failed to fetch PVC from API server: persistentvolumeclaims "data" not found',
    );
    api.objects.set('persistentvolumeclaims/data', aClaim('data', { status: { phase: 'Pending' } }));
    await refused('error processing PVC default/data: PVC is not bound');
    api.objects.set('persistentvolumeclaims/data', aClaim('data'));
    await refused(
      'error processing PVC default/data: failed to fetch PV pv-data from API server: persistentvolumes "pv-data" not found',
    );
    api.objects.set('persistentvolumes/pv-data', aPersistentVolume('data', { claimRef: { uid: 'x' } }));
    await refused(
      'error processing PVC default/data: found PV object pv-data but its pv.Spec.ClaimRef.UID x does not point to claim.UID uid-of-data',
    );
  });

  test('an API server that fails keeps its kind of failure', async () => {
    const { api, resolve } = setUp();
    api.fault = () => {
      throw new TubeletError('unavailable', 'GET: connection refused', { remoteMessage: 'connection refused' });
    };
    await assert.rejects(resolve(), {
      kind: 'unavailable',
      message: 'error processing PVC default/data: failed to fetch PVC from API server: connection refused',
    });
  });

  test('a claim that lives with the pod has its name and is its own', async () => {
    const { api, resolve, refused } = setUp();
    api.put('web-v', { hostPath: { path: '/a' } });
    await refused('PVC default/web-v was not created for pod default/web (pod is not owner)', ephemeral);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-1', controller: true }];
    const metadata = { ...aClaim('web-v').metadata, ownerReferences };
    api.objects.set('persistentvolumeclaims/web-v', aClaim('web-v', { metadata }));
    assert.equal((await resolve(ephemeral)).name, 'pv-web-v');
  });
});

test('a volume of another node fails when it is to be mounted', async () => {
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n2'] }] }],
  };
  const outcome = async (labels: Readonly<Record<string, string>> | undefined, own: boolean): Promise<string> => {
    const api = new MemoryClaims();
    const claims = new VolumeClaims({ api, nodeLabels: () => labels });
    api.put('data', { local: { path: '/mnt' }, ...(own && { nodeAffinity: { required } }) });
    const claimed = await claims.resolve(aPod(), volume, never);
    try {
      claims.checkNode(claimed);
      return 'fine';
    } catch (error) {
      assert.ok(error instanceof VolumeStepError);
      return `${error.step}: ${error.message}`;
    }
  };
  assert.equal(await outcome({ 'kubernetes.io/hostname': 'n2' }, true), 'fine');
  assert.equal(await outcome(undefined, false), 'fine');
  assert.equal(await outcome({}, true), 'MountVolume.NodeAffinity check failed: no matching NodeSelectorTerms');
  assert.equal(
    await outcome(undefined, true),
    'MountVolume.NodeAffinity check failed: error retrieving node: it is not known yet',
  );
});
