import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../base/log.ts';
import { podUid } from '../base/ids.ts';
import type { ConfigMap, TokenRequest } from '../gen/kubernetes/types.ts';
import type { ApiObject, MirrorChange } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';
import { apiTime } from '../model/api-time.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { createObjects, type ObjectsSettings } from './create-objects.ts';
import type { ObjectsApi, ReflectOptions, RunningMirror } from './ports.ts';
import { commonPorts } from '../testing/common-ports.ts';

const never = new AbortController().signal;
const uid = podUid('u1');
const settings: ConfigMap = { metadata: { name: 'settings', namespace: 'shop' }, data: { colour: 'red' } };
const pod = aPod({
  uid,
  name: 'web',
  namespace: 'shop',
  spec: {
    containers: [aContainer('c', { envFrom: [{ configMapRef: { name: 'settings' } }] })],
    volumes: [{ name: 'api', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
  },
});

/** An API server that has one ConfigMap and gives tokens; mirrors have their list as soon as they are made. */
class World {
  readonly clock = new FakeClock();
  readonly podRemoval = new PodRemoval(silentLog);
  readonly woken: unknown[] = [];
  readonly calls: string[] = [];

  create(chosen: Partial<ObjectsSettings>, hasApi = true): ReturnType<typeof createObjects> {
    return createObjects({
      ports: commonPorts({ clock: this.clock, log: silentLog }),
      settings: { changeDetectionStrategy: 'Watch', clusterTrustBundles: false, ...chosen },
      inbox: { resourcesChanged: (uids) => void this.woken.push(uids) },
      podRemoval: this.podRemoval,
      api: hasApi ? this.#api : undefined,
    });
  }

  readonly #api: ObjectsApi = {
    client: {
      get: async (resource, { name }) => {
        this.calls.push(`get ${resource.plural} ${name}`);
        return settings as never;
      },
      list: async (resource) => {
        this.calls.push(`list ${resource.plural}`);
        return { metadata: {}, items: [] };
      },
      create: async (_, __, object) => {
        const expirationTimestamp = apiTime(this.clock.now() + 3_600_000);
        return { ...(object as unknown as TokenRequest), status: { token: 't', expirationTimestamp } } as never;
      },
    },
    reflect: <T extends ApiObject>(resource: ApiResource, options: ReflectOptions<T>): RunningMirror<T> => {
      this.calls.push(`reflect ${resource.plural} ${options.fieldSelector ?? ''}`);
      const found = (resource.kind === 'ConfigMap' ? [settings] : []) as readonly ApiObject[] as readonly T[];
      const change: MirrorChange<T> = { type: 'replaced' };
      this.clock.after(1, () => options.onChange(change));
      return { synced: () => true, get: () => found[0], all: () => found, lastError: () => undefined, stop: () => {} };
    },
    node: { node: () => undefined },
  };
}

test('without an API server pods are presented with what stands in the manifests folder', async () => {
  const world = new World();
  const { components, podObjects, tokens, trust, setManifestObjects } = world.create({}, false);
  assert.deepEqual([components, tokens, trust], [[], undefined, undefined]);
  await podObjects.ready(pod, never);
  const at = { kind: 'ConfigMap', namespace: 'shop', name: 'settings', path: '/m/a.yaml', line: 1 } as const;
  setManifestObjects([{ ...at, object: settings }]);
  assert.equal(podObjects.configMap('shop', 'settings'), settings);
  assert.equal(podObjects.problem('ConfigMap', 'shop', 'gone'), undefined);
  assert.deepEqual(world.woken, [[uid]]);
});

test('with an API server pods are presented with its objects, and those of the folder wake no pod', async () => {
  const world = new World();
  const { components, podObjects, setManifestObjects } = world.create({});
  await podObjects.ready(pod, never);
  assert.deepEqual(podObjects.configMap('shop', 'settings'), settings);
  assert.deepEqual(world.calls, ['reflect configmaps metadata.name=settings']);
  const at = { kind: 'ConfigMap', namespace: 'shop', name: 'other', path: '/m/a.yaml', line: 1 } as const;
  setManifestObjects([{ ...at, object: {} }]);
  assert.equal(podObjects.configMap('shop', 'other'), undefined);
  assert.deepEqual(world.woken, []);
  await world.clock.advance(1);
  assert.deepEqual(world.woken, [[uid]]);
  assert.deepEqual(
    components.map(({ name }) => name),
    ['api-objects'],
  );
});

test('objects that are asked for', async () => {
  const world = new World();
  const { podObjects } = world.create({ changeDetectionStrategy: 'Cache' });
  await podObjects.ready(pod, never);
  assert.equal(podObjects.configMap('shop', 'settings'), settings);
  assert.deepEqual(world.calls, ['get configmaps settings']);
});

test('trust bundles are there where the gate is on, and refused in its name where it is not', async () => {
  const off = new World().create({});
  await assert.rejects(off.trust?.anchors({ path: 'p', name: 'n' }, { uid }, never) ?? assert.fail(), {
    message: 'ClusterTrustBundle projection is not supported: the feature gate ClusterTrustBundleProjection is off',
  });
  const world = new World();
  const on = world.create({ clusterTrustBundles: true });
  assert.equal(await on.trust?.anchors({ path: 'p', name: 'n', optional: true }, { uid }, never), '');
  assert.deepEqual(world.calls, ['list clustertrustbundles', 'reflect clustertrustbundles ']);
  assert.deepEqual(
    on.components.map(({ name }) => name),
    ['trust-bundles', 'api-objects'],
  );
});

test('nothing is remembered of a pod that was removed', async () => {
  const world = new World();
  const { podObjects, trust, tokens } = world.create({ clusterTrustBundles: true });
  await podObjects.ready(pod, never);
  await trust?.anchors({ path: 'p', name: 'n', optional: true }, { uid }, never);
  await world.clock.settle();
  assert.notEqual(tokens?.refreshInMs(uid), undefined);
  const sizes = (): unknown => [...world.podRemoval.sizes()];
  assert.deepEqual(sizes(), [
    ['objects/manifest-readers', 0],
    ['objects/api-objects', 1],
    ['objects/tokens', 1],
    ['objects/trust-bundles', 1],
  ]);
  world.podRemoval.podRemoved(uid);
  assert.deepEqual([...world.podRemoval.sizes().values()], [0, 0, 0, 0]);
});
