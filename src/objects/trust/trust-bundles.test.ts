import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import { silentLog } from '../../base/log.ts';
import type { ClusterTrustBundle, ClusterTrustBundleProjection } from '../../gen/kubernetes/types.ts';
import type { ApiReader, MirrorChange } from '../../model/api-client.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { refusedTrust, TrustBundles } from './trust-bundles.ts';

const never = new AbortController().signal;
const pem = (bytes: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(bytes).toString('base64')}\n-----END CERTIFICATE-----\n`;
const bundle = (name: string, text: string, signerName?: string): ClusterTrustBundle => ({
  metadata: { name },
  spec: { trustBundle: pem(text), ...(signerName !== undefined && { signerName }) },
});

/** An API server that has bundles in some versions, and sends changes when the test says so. */
function world({ served = ['v1beta1'] }: { readonly served?: readonly string[] } = {}) {
  const clock = new FakeClock();
  const bundles = new Map<string, ClusterTrustBundle>();
  const [asked, woken, opened] = [[] as string[], [] as (readonly string[])[], [] as string[]];
  const server = { served, synced: false, lastError: undefined as string | undefined, down: false };
  let notify: ((change: MirrorChange<ClusterTrustBundle>) => void) | undefined;
  const list = (async ({ version }) => {
    asked.push(version);
    if (server.down) throw new TubeletError('unavailable', 'connection refused');
    if (!server.served.includes(version)) throw new TubeletError('notFound', 'could not find the requested resource');
    return { metadata: {}, items: [] };
  }) as ApiReader['list'];
  const trust = new TrustBundles({
    clock,
    log: silentLog,
    api: { list },
    watch: ({ version }, onChange) => {
      assert.equal(notify, undefined, 'watched once');
      opened.push(version);
      notify = onChange;
      return {
        synced: () => server.synced,
        lastError: () => server.lastError,
        get: (name) => bundles.get(name),
        all: () => [...bundles.values()],
        stop: () => void ((notify = undefined), (server.synced = false)),
      };
    },
    inbox: { resourcesChanged: (uids) => void woken.push(uids) },
  });
  const sync = (...all: readonly ClusterTrustBundle[]): void => {
    for (const each of all) bundles.set(each.metadata?.name ?? '', each);
    server.synced = true;
    notify?.({ type: 'replaced' });
    for (const object of all) notify?.({ type: 'put', object, previous: undefined });
    woken.length = 0;
  };
  const put = (object: ClusterTrustBundle): void => {
    const name = object.metadata?.name ?? '';
    const previous = bundles.get(name);
    bundles.set(name, object);
    notify?.({ type: 'put', object, previous });
  };
  const remove = (name: string): void => {
    const object = bundles.get(name) ?? assert.fail(name);
    bundles.delete(name);
    notify?.({ type: 'removed', object });
  };
  const anchors = (uid: string, projection: Partial<ClusterTrustBundleProjection>, signal = never): Promise<string> =>
    trust.anchors({ path: 'ca.pem', ...projection }, { uid: podUid(uid) }, signal);
  return {
    clock,
    trust,
    server,
    asked,
    woken,
    opened,
    sync,
    put,
    remove,
    anchors,
    isWatched: () => notify !== undefined,
  };
}

describe('TrustBundles', () => {
  test('nothing is asked until a pod wants it; one watch serves all; the last pod ends it', async () => {
    const { clock, trust, asked, opened, sync, anchors, isWatched } = world();
    const both = [anchors('u1', { name: 'one' }), anchors('u2', { signerName: 's', labelSelector: {} })];
    await clock.settle();
    assert.deepEqual([asked, opened], [['v1beta1'], ['v1beta1']]);
    sync(bundle('one', 'a', 's'), bundle('two', 'b', 's'));
    assert.deepEqual(await Promise.all(both), [pem('a'), pem('a') + pem('b')]);
    assert.equal(await anchors('u1', { name: 'two' }), pem('b'));
    trust.forget(podUid('u1'));
    assert.equal(isWatched(), true);
    trust.forget(podUid('u2'));
    assert.equal(isWatched(), false);
    trust.forget(podUid('u2'));
    assert.deepEqual([asked.length, clock.pending(), trust.size()], [1, 0, 0]);
    const again = anchors('u3', { name: 'one' });
    await clock.settle();
    sync();
    assert.equal(await again, pem('a'));
    assert.equal(asked.length, 2);
  });

  test('an older API server has an older version', async () => {
    const { clock, asked, opened, sync, anchors } = world({ served: ['v1alpha1'] });
    const asking = anchors('u1', { name: 'one' });
    await clock.settle();
    sync(bundle('one', 'a'));
    assert.equal(await asking, pem('a'));
    assert.deepEqual([asked, opened], [['v1beta1', 'v1alpha1'], ['v1alpha1']]);
  });

  test('an API server without bundles: says so, is asked again, and may have learned', async () => {
    const { clock, server, sync, anchors } = world({ served: [] });
    const message =
      'ClusterTrustBundle projection is not supported: the API server has no clustertrustbundles of ' +
      'certificates.k8s.io/v1beta1 and certificates.k8s.io/v1alpha1';
    await assert.rejects(anchors('u1', { name: 'one', optional: true }), { kind: 'unsupported', message });
    server.down = true;
    await assert.rejects(anchors('u1', { name: 'one' }), /connection refused/);
    Object.assign(server, { served: ['v1beta1'], down: false });
    const asking = anchors('u1', { name: 'one' });
    await clock.settle();
    sync(bundle('one', 'a'));
    assert.equal(await asking, pem('a'));
  });

  test('a change wakes exactly the pods that it concerns, and they read the new text', async () => {
    const { clock, woken, sync, put, remove, anchors } = world();
    const projections: readonly (readonly [string, Partial<ClusterTrustBundleProjection>])[] = [
      ['u1', { name: 'one' }],
      ['u2', { signerName: 's', labelSelector: {}, optional: true }],
      ['u3', { name: 'two' }],
      ['u4', { name: 'late', optional: true }],
    ];
    const first = projections.map(([uid, projection]) => anchors(uid, projection));
    await clock.settle();
    sync(bundle('one', 'a', 's'), bundle('two', 'b'));
    assert.deepEqual(await Promise.all(first), [pem('a'), pem('a'), pem('b'), '']);
    put(bundle('one', 'c', 's'));
    assert.deepEqual(woken.splice(0), [['u1', 'u2']]);
    assert.equal(await anchors('u2', { signerName: 's', labelSelector: {}, optional: true }), pem('c'));
    // It leaves the signer: pods that had it must be woken, too.
    put(bundle('one', 'c', 't'));
    assert.deepEqual(woken.splice(0), [['u1', 'u2']]);
    put(bundle('late', 'l'));
    remove('two');
    put(bundle('nobody', 'n', 'x'));
    assert.deepEqual(woken.splice(0), [['u4'], ['u3']]);
    await assert.rejects(anchors('u3', { name: 'two' }), /"two" not found/);
    assert.equal(clock.pending(), 0);
  });

  test('nothing heard for ten seconds: says why; a pod that is given up does not wait', async () => {
    const { clock, server, anchors } = world();
    const waiting = assert.rejects(anchors('u1', { name: 'one', optional: true }), {
      kind: 'unavailable',
      message: 'ClusterTrustBundle informer has not yet synced: clustertrustbundles is forbidden',
    });
    server.lastError = 'clustertrustbundles is forbidden';
    await clock.advance(10_000);
    await waiting;
    const aborted = new AbortController();
    const given = assert.rejects(anchors('u1', { name: 'one' }, aborted.signal), /over/);
    await clock.settle();
    aborted.abort(new Error('over'));
    await given;
    assert.equal(clock.pending(), 0);
  });

  test('pods that go while the API server is asked leave no watch behind, nor does a stop', async () => {
    const { clock, trust, anchors, isWatched, sync } = world();
    const asking = assert.rejects(anchors('u1', { name: 'one' }), /are removed/);
    trust.forget(podUid('u1'));
    await asking;
    assert.equal(isWatched(), false);
    const second = anchors('u1', { name: 'one' });
    await clock.settle();
    sync(bundle('one', 'a'));
    await second;
    await trust.stop();
    assert.equal(isWatched(), false);
  });
});

test('a node that may not ask says why', async () => {
  const { anchors } = refusedTrust('the feature gate ClusterTrustBundleProjection is off');
  await assert.rejects(anchors({ path: 'p' }, { uid: podUid('u1') }, never), {
    message: 'ClusterTrustBundle projection is not supported: the feature gate ClusterTrustBundleProjection is off',
  });
});
