import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConfigMap, Event, PodSpec, Service } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { visibleFiles } from '../../src/testing/visible-files.ts';
import { ClusterWorld } from '../support/cluster-world.ts';

const wanting = (name: string): Partial<PodSpec> => ({
  volumes: [{ name: 'cm', configMap: { name } }],
  containers: [aContainer('main', { volumeMounts: [{ name: 'cm', mountPath: '/cm' }] })],
});
const pathOf = (uid: string): string => `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~configmap/cm`;

class ObjectsWorld extends ClusterWorld {
  put(name: string, data: Record<string, string>, more: Partial<ConfigMap> = {}): void {
    const metadata = { name, namespace: 'default' };
    this.api.objects.put<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data, ...more });
  }

  filesOf(uid: string): Promise<unknown> {
    return visibleFiles(this.machine.files, pathOf(uid));
  }

  /** Watches of ConfigMaps that were opened. */
  watched(): readonly (string | undefined)[] {
    return this.api.requests({ resource: 'configmaps', verb: 'watch' }).map(({ query }) => query['fieldSelector']);
  }
}

async function started(): Promise<ObjectsWorld> {
  const it = new ObjectsWorld();
  await it.start();
  return it;
}

describe('ConfigMaps of a cluster', () => {
  test('one that changes wakes the pods that use it, and no others', async () => {
    const it = await started();
    it.put('shared', { color: 'green' });
    it.put('own', { color: 'blue' });
    const [one, two, other] = [
      it.bind('one', wanting('shared')),
      it.bind('two', wanting('shared')),
      it.bind('other', wanting('own')),
    ];
    it.bind('plain');
    await it.clock.advance(5_000);
    it.woken.length = 0;
    it.put('shared', { color: 'red' });
    await it.clock.advance(100);
    assert.deepEqual(it.woken.toSorted(), [one, two].toSorted());
    assert.deepEqual(
      [await it.filesOf(one), await it.filesOf(two), await it.filesOf(other)],
      [{ color: 'red' }, { color: 'red' }, { color: 'blue' }],
    );
    await it.stop();
  });

  test('between the event and the files there is no timer: it takes no time at all', async () => {
    const it = await started();
    it.put('shared', { color: 'green' });
    const uid = it.bind('one', wanting('shared'));
    await it.clock.advance(5_000);
    const [began, timers] = [it.clock.monotonic(), it.clock.pending()];
    it.put('shared', { color: 'red' });
    await it.clock.settle();
    assert.deepEqual(await it.filesOf(uid), { color: 'red' });
    assert.deepEqual([it.clock.monotonic(), it.clock.pending()], [began, timers]);
    await it.stop();
  });

  test('one that is missing is waited for; it starts its pod when it comes', async () => {
    const it = await started();
    const uid = it.bind('web', wanting('late'));
    await it.clock.advance(30_000);
    assert.deepEqual([it.phase('web'), it.containers('web')], ['Pending', []]);
    it.put('late', { color: 'green' });
    await it.clock.advance(1_000);
    assert.deepEqual([it.phase('web'), await it.filesOf(uid)], ['Running', { color: 'green' }]);
    await it.stop();
  });

  test('is watched once for all who use it, for as long as somebody does', async () => {
    const it = await started();
    it.put('shared', { color: 'green' });
    const before = it.api.watches;
    it.bind('one', wanting('shared'));
    it.bind('two', wanting('shared'));
    await it.clock.advance(5_000);
    assert.deepEqual(it.watched(), ['metadata.name=shared']);
    assert.equal(it.api.watches, before + 1);
    it.delete('one');
    await it.clock.advance(60_000);
    assert.equal(it.api.watches, before + 1);
    it.delete('two');
    await it.clock.advance(60_000);
    assert.equal(it.api.watches, before);
    await it.stop();
  });

  test('one that never changes is not watched', async () => {
    const it = await started();
    it.put('fixed', { color: 'green' }, { immutable: true });
    const before = it.api.watches;
    const uid = it.bind('web', wanting('fixed'));
    await it.clock.advance(5_000);
    assert.deepEqual([it.api.watches, await it.filesOf(uid)], [before, { color: 'green' }]);
    await it.stop();
  });

  test('a change made while the API server was away arrives afterwards', async () => {
    const it = await started();
    it.put('shared', { color: 'green' });
    const uid = it.bind('web', wanting('shared'));
    await it.clock.advance(5_000);
    it.api.faults.away();
    it.put('shared', { color: 'red' });
    await it.clock.advance(120_000);
    assert.deepEqual(await it.filesOf(uid), { color: 'green' });
    it.api.faults.back();
    await it.clock.advance(60_000);
    assert.deepEqual(await it.filesOf(uid), { color: 'red' });
    assert.deepEqual(it.containers('web'), ['main#0 running']);
    await it.stop();
  });
});

describe('what else pods need of a cluster', () => {
  const environmentOf = (it: ClusterWorld): ReadonlyMap<string, string> => {
    const [container] = it.cri.state.containers.values();
    return new Map(container?.config.envs.map(({ key, value }) => [key, value.toString()]));
  };

  test('no pod starts before the services are known, and each is told of them', async () => {
    const it = new ClusterWorld();
    it.api.objects.put<Service>({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kubernetes', namespace: 'default' },
      spec: { clusterIP: '198.51.100.1', clusterIPs: ['198.51.100.1'], ports: [{ port: 443, protocol: 'TCP' }] },
    });
    it.api.faults.refuse(500, { when: ({ resource }) => resource === 'services' });
    await it.start();
    it.bind('web');
    await it.clock.advance(5_000);
    assert.deepEqual(it.containers('web'), []);
    it.api.faults.clear();
    await it.clock.advance(120_000);
    assert.deepEqual(it.containers('web'), ['main#0 running']);
    assert.equal(environmentOf(it).get('KUBERNETES_SERVICE_HOST'), '198.51.100.1');
    await it.stop();
  });

  test('a pod gets a token of its own, which is renewed in time', async () => {
    const it = new ClusterWorld();
    it.api.objects.put({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: 'default' },
    });
    await it.start();
    const uid = it.bind('web', {
      volumes: [
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] } },
      ],
      containers: [aContainer('main', { volumeMounts: [{ name: 'token', mountPath: '/token' }] })],
    });
    await it.clock.advance(5_000);
    const path = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~projected/token`;
    const token = async (): Promise<string> => {
      const { token: text = '' } = (await visibleFiles(it.machine.files, path)) as { readonly token?: string };
      return text;
    };
    const first = await token();
    const asked = it.api.requests({ resource: 'serviceaccounts', verb: 'create' });
    assert.equal(asked.length, 1, 'foreseen and mounted with one request');
    const claims = JSON.parse(Buffer.from(first.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    assert.deepEqual(claims['sub'], 'system:serviceaccount:default:default');
    assert.deepEqual((claims['kubernetes.io'] as Record<string, unknown>)['pod'], { name: 'web', uid });
    await it.clock.advance(590_000);
    const second = await token();
    assert.notEqual(second, first);
    assert.notEqual(it.api.tokens.userOf(second), undefined);
    await it.stop();
  });
});

test('who asks before the API server knows of the binding asks again, and the pod hears of no failure', async () => {
  const it = await started();
  it.put('shared', { color: 'green' });
  it.api.faults.refuse(403, {
    when: ({ resource, verb }) => resource === 'configmaps' && verb === 'list',
    message: 'no relationship found',
    times: 2,
  });
  it.bind('web', wanting('shared'));
  await it.clock.advance(700);
  assert.ok(it.isReady('web'));
  assert.deepEqual(
    it.events().filter((event) => event.includes('Failed')),
    [],
  );
  await it.stop();
});

test('a pod that uses what the API server never gives is told why', async () => {
  const it = new ObjectsWorld();
  await it.start();
  it.api.faults.refuse(403, { when: ({ resource }) => resource === 'configmaps', message: 'no relationship found' });
  it.bind('web', wanting('secret'));
  await it.clock.advance(20_000);
  const told = it.api.objects.all<Event>(apiResources.events).map(({ reason, message }) => `${reason}: ${message}`);
  assert.match(
    told.join('\n'),
    /FailedMount: MountVolume.SetUp failed for volume "cm" : failed to sync configmap cache/,
  );
  it.api.faults.clear();
  it.put('secret', {});
  await it.clock.advance(60_000);
  assert.equal(it.phase('web'), 'Running');
  await it.stop();
});
