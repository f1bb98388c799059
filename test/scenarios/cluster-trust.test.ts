import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterTrustBundle, ClusterTrustBundleProjection, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { visibleFiles } from '../../src/testing/visible-files.ts';
import { ClusterWorld } from '../support/cluster-world.ts';

const pem = (bytes: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(bytes).toString('base64')}\n-----END CERTIFICATE-----\n`;

const wanting = (projection: Partial<ClusterTrustBundleProjection>): Partial<PodSpec> => ({
  volumes: [{ name: 'ca', projected: { sources: [{ clusterTrustBundle: { path: 'ca.pem', ...projection } }] } }],
  containers: [aContainer('main', { volumeMounts: [{ name: 'ca', mountPath: '/ca' }] })],
});

class TrustWorld extends ClusterWorld {
  constructor() {
    super({ trustBundles: true });
  }

  put(name: string, bytes: string, signerName = '', labels: Record<string, string> = {}): void {
    this.api.objects.put<ClusterTrustBundle>({
      apiVersion: 'certificates.k8s.io/v1beta1',
      kind: 'ClusterTrustBundle',
      metadata: { name, labels },
      spec: { trustBundle: bytes.split('').map(pem).join('\n'), ...(signerName !== '' && { signerName }) },
    });
  }

  /** What the pod's file says, by the letters of its certificates. */
  async letters(uid: string): Promise<string> {
    const path = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~projected/ca`;
    const { 'ca.pem': text = '' } = await visibleFiles(this.machine.files, path);
    const letters = [...text.matchAll(/-\n(.*)\n-/g)].map(([, base64 = '']) =>
      Buffer.from(base64, 'base64').toString(),
    );
    assert.equal(text, letters.map(pem).join(''), 'whole and in order');
    return letters.join('');
  }

  /** Questions about bundles that were asked. */
  asked(): readonly unknown[] {
    return this.api.requests({ resource: 'clustertrustbundles' }).map(({ verb }) => verb);
  }
}

async function started(): Promise<TrustWorld> {
  const it = new TrustWorld();
  await it.start();
  return it;
}

describe('bundles of certificates', () => {
  test('by name and by signer; a change is there without a timer, for whom it concerns', async () => {
    const it = await started();
    const before = it.api.watches;
    it.put('roots', 'ba');
    it.put('s-one', 'cd', 'example.com/s', { live: 'yes' });
    it.put('s-two', 'e', 'example.com/s');
    const labelSelector = { matchLabels: { live: 'yes' } };
    it.bind('plain');
    await it.clock.advance(5_000);
    assert.deepEqual([it.asked(), it.api.watches], [[], before], 'nobody asks for what nobody wants');
    const named = it.bind('named', wanting({ name: 'roots' }));
    const signed = it.bind('signed', wanting({ signerName: 'example.com/s', labelSelector }));
    await it.clock.advance(5_000);
    assert.deepEqual([await it.letters(named), await it.letters(signed)], ['ab', 'cd']);
    assert.equal(it.api.watches, before + 1, 'one watch for all');

    it.woken.length = 0;
    const timers = it.clock.pending();
    it.put('s-two', 'e', 'example.com/s', { live: 'yes' });
    await it.clock.settle();
    assert.deepEqual([it.woken, await it.letters(signed), it.clock.pending()], [[signed], 'cde', timers]);
    it.put('roots', 'f');
    await it.clock.settle();
    assert.deepEqual([it.woken, await it.letters(named)], [[signed, named], 'f']);

    it.delete('named');
    it.delete('signed');
    await it.clock.advance(60_000);
    assert.equal(it.api.watches, before, 'and none for nobody');
    await it.stop();
  });

  test('one that is missing is waited for, unless it may be; it starts its pod when it comes', async () => {
    const it = await started();
    const waits = it.bind('waits', wanting({ name: 'late' }));
    const goes = it.bind('goes', wanting({ name: 'late', optional: true }));
    await it.clock.advance(5_000);
    assert.deepEqual([it.phase('waits'), it.phase('goes'), await it.letters(goes)], ['Pending', 'Running', '']);
    const why = 'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "late" not found';
    assert.ok(it.messages('waits').includes(`MountVolume.SetUp failed for volume "ca" : ${why}`));
    it.put('late', 'a');
    await it.clock.advance(100);
    assert.deepEqual([await it.letters(waits), await it.letters(goes)], ['a', 'a']);
    // What is deleted is not taken from those who have it.
    it.api.objects.remove(apiResources.clusterTrustBundles, { name: 'late' });
    await it.clock.advance(5_000);
    assert.deepEqual([await it.letters(waits), await it.letters(goes)], ['a', '']);
    assert.deepEqual([it.phase('waits'), it.containers('waits')], ['Running', ['main#0 running']]);
    await it.stop();
  });

  test('an API server that has none, and an agent that may not ask, say so', async () => {
    const it = await started();
    it.api.faults.refuse(404, { when: ({ resource }) => resource === 'clustertrustbundles' });
    it.bind('web', wanting({ name: 'roots', optional: true }));
    await it.clock.advance(5_000);
    const versions = 'certificates.k8s.io/v1beta1 and certificates.k8s.io/v1alpha1';
    const unsupported = 'MountVolume.SetUp failed for volume "ca" : ClusterTrustBundle projection is not supported';
    assert.ok(it.messages('web').includes(`${unsupported}: the API server has no clustertrustbundles of ${versions}`));
    it.api.faults.clear();
    await it.clock.advance(120_000);
    assert.equal(it.phase('web'), 'Running');
    await it.stop();

    const off = new ClusterWorld();
    await off.start();
    off.bind('web', wanting({ name: 'roots' }));
    await off.clock.advance(5_000);
    assert.ok(off.messages('web').includes(`${unsupported}: the feature gate ClusterTrustBundleProjection is off`));
    await off.stop();
  });
});
