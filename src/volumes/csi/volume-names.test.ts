import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { decodePublished, decodeStaged, encodePublished, encodeStaged, type PublishedData } from './volume-data.ts';
import { attachableName, attachmentName, inlineHandle, publishPlace, stagingPlace } from './volume-names.ts';

const volume = { driver: 'hostpath.csi.k8s.io', handle: 'vol-1' };
/** Of `vol-1`, by sha256sum. */
const handleDigest = 'd2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49';
/** Of `vol-1hostpath.csi.k8s.ionode-1`. */
const attachment = 'csi-a5a2e67339ab5660a390dc86be397e784322823ff01f40cf2c01a72c3cab1374';

test('names and paths are those that other kubelets and controllers have', () => {
  assert.equal(attachmentName(volume, 'node-1'), attachment);
  assert.equal(
    inlineHandle(podUid('uid-1'), 'scratch'),
    'csi-a919eb5a57ed1bf8c61a802fc713b36e9bfa4fbf009dfb5f4206d253a3a3dc32',
  );
  assert.equal(attachableName(volume), 'kubernetes.io/csi/hostpath.csi.k8s.io^vol-1');
  const staged = `/k/plugins/kubernetes.io/csi/hostpath.csi.k8s.io/${handleDigest}`;
  assert.deepEqual(stagingPlace('/k', volume), {
    folder: staged,
    target: `${staged}/globalmount`,
    data: `${staged}/vol_data.json`,
  });
  const published = '/k/pods/u/volumes/kubernetes.io~csi/pv-1';
  assert.deepEqual(publishPlace(published), {
    folder: published,
    target: `${published}/mount`,
    data: `${published}/vol_data.json`,
  });
});

describe('vol_data.json', () => {
  const data: PublishedData = {
    ...volume,
    name: 'pv-1',
    nodeName: 'node-1',
    attachment,
    lifecycle: 'Persistent',
  };

  test('of a pod is written as a Go kubelet writes it, and read back', () => {
    const text =
      `{"attachmentID":"${attachment}","driverName":"hostpath.csi.k8s.io","nodeName":"node-1","specVolID":"pv-1",` +
      '"volumeHandle":"vol-1","volumeLifecycleMode":"Persistent"}\n';
    assert.equal(encodePublished(data), text);
    assert.deepEqual(decodePublished(text), data);
    assert.equal(decodePublished(encodePublished({ ...data, lifecycle: 'Ephemeral' })).lifecycle, 'Ephemeral');
  });

  test('of a staged volume too, with its label where it has one', () => {
    const text = '{"driverName":"hostpath.csi.k8s.io","volumeHandle":"vol-1"}\n';
    assert.equal(encodeStaged(volume), text);
    assert.deepEqual(decodeStaged(text), volume);
    const labelled = { ...volume, seLinuxContext: 'system_u:object_r:container_file_t:s0:c1,c2' };
    assert.deepEqual(decodeStaged(encodeStaged(labelled)), labelled);
  });

  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['nothing', '', /^it is empty$/],
    ['half of it', '{"driverName":"host', /^it is not JSON$/],
    ['a list', '[]', /^it is no map of texts$/],
    ['numbers', '{"driverName":"d","volumeHandle":1}', /^it is no map of texts$/],
    ['no handle', '{"driverName":"d"}', /^volumeHandle is missing$/],
    ['no driver', '{"volumeHandle":"v"}', /^driverName "" must not be empty$/],
    [
      'a driver that leads elsewhere',
      '{"driverName":"../../etc","volumeHandle":"v"}',
      /^driverName "\.\.\/\.\.\/etc" /,
    ],
  ];
  for (const [what, text, message] of wrong) {
    test(`with ${what} is refused`, () => {
      assert.throws(() => decodePublished(text), { kind: 'invalid', message });
      assert.throws(() => decodeStaged(text), { kind: 'invalid', message });
    });
  }

  test('of a kubelet without volumeLifecycleMode is that of a persistent volume', () => {
    const { lifecycle } = decodePublished('{"driverName":"d","volumeHandle":"v","specVolID":"pv"}');
    assert.equal(lifecycle, 'Persistent');
  });
});
