import assert from 'node:assert/strict';
import type { ConfigMap, Lease } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import { refused, type Examine } from './world.ts';

const { configMaps, leases } = apiResources;

/** Objects come into being, are read and are replaced. */
export function objectTests(examine: Examine): void {
  examine('a new object gets what the server gives: a uid, a version, a time, and its kind', async (world) => {
    const made = await world.configMap({ data: { a: '1' }, metadata: { labels: { x: 'y' } } });
    const { uid, resourceVersion, creationTimestamp, namespace, labels, generation } = made.metadata ?? {};
    assert.match(uid ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.match(resourceVersion ?? '', /^[1-9]\d*$/);
    assert.match(creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual([namespace, labels, generation], [world.namespace, { x: 'y' }, undefined]);
    assert.deepEqual([made.kind, made.apiVersion, made.data], ['ConfigMap', 'v1', { a: '1' }]);
    assert.deepEqual(await world.api.get(configMaps, world.ref(made.metadata?.name ?? '')), made);
  });

  examine('versions of later writes are greater, whatever they are of', async (world) => {
    const first = await world.configMap();
    const second = await world.pod();
    const third = await world.configMap();
    const versions = [first, second, third].map(({ metadata }) => Number(metadata?.resourceVersion));
    assert.deepEqual(
      versions.toSorted((a, b) => a - b),
      versions,
    );
    assert.equal(new Set(versions).size, 3);
  });

  examine('a name is taken once', async (world) => {
    const name = world.unique('twice');
    await world.configMap({}, name);
    const words = `configmaps "${name}" already exists`;
    await refused(world.configMap({}, name), { kind: 'alreadyExists', status: 409, reason: 'AlreadyExists', words });
  });

  examine('what is not there is not found, and the server says what', async (world) => {
    const none = { kind: 'notFound', status: 404, reason: 'NotFound' } as const;
    await refused(world.api.get(configMaps, world.ref('none')), { ...none, words: 'configmaps "none" not found' });
    const lease = 'leases.coordination.k8s.io "none" not found';
    await refused(world.api.get(leases, world.ref('none')), { ...none, words: lease });
    const words = 'namespaces "no-such-place" not found';
    await refused(world.api.create(configMaps, 'no-such-place', { metadata: { name: 'a' } }), { ...none, words });
    const update = world.api.update(configMaps, world.ref('none'), { metadata: { name: 'none' } });
    await refused(update, { ...none, words: 'configmaps "none" not found' });
    const nowhere = await world.raw('GET', '/api/v1/no-such-things');
    assert.deepEqual([nowhere.status, nowhere.value['reason']], [404, 'NotFound']);
  });

  examine('a name can be left to the server, and must be one', async (world) => {
    const { metadata } = await world.api.create<ConfigMap>(configMaps, world.namespace, {
      metadata: { generateName: 'g-' },
    });
    assert.match(metadata?.name ?? '', /^g-[a-z0-9]{5}$/);
    assert.equal(metadata?.generateName, 'g-');
    const invalid = { kind: 'invalid', status: 422, reason: 'Invalid' } as const;
    await refused(world.api.create(configMaps, world.namespace, { metadata: {} }), {
      ...invalid,
      words: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    });
    await refused(world.configMap({}, 'A_b'), {
      ...invalid,
      words: /^ConfigMap "A_b" is invalid: metadata\.name: Invalid/,
    });
  });

  examine('a body must be an object of that kind and place, without a version', async (world) => {
    const kind = await world.raw('POST', world.path('configmaps'), {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'a' },
    });
    const place = await world.raw('POST', world.path('configmaps'), { metadata: { name: 'a', namespace: 'default' } });
    const garbage = await world.raw('POST', world.path('configmaps'), 'garbage');
    const version = await world.raw('POST', world.path('configmaps'), {
      metadata: { name: 'a', resourceVersion: '1' },
    });
    assert.deepEqual([kind.status, place.status, garbage.status, version.status], [400, 400, 400, 500]);
    assert.equal(version.value['message'], 'resourceVersion should not be set on objects to be created');
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'BadRequest', code: 400 };
    const { metadata: _, message, ...rest } = place.value;
    assert.deepEqual(rest, status);
    assert.equal(message, 'the namespace of the provided object does not match the namespace sent on the request');
  });

  examine('an update replaces the object that was read, and no other', async (world) => {
    const read = await world.configMap({ data: { a: '1' }, metadata: { labels: { x: 'y' } } });
    const name = read.metadata?.name ?? '';
    const put = (object: ConfigMap): Promise<ConfigMap> =>
      world.api.update<ConfigMap>(configMaps, world.ref(name), object);
    const { labels: _, ...bare } = read.metadata ?? {};
    const next = await put({ ...read, metadata: bare, data: { b: '2' } });
    assert.deepEqual([next.data, next.metadata?.labels], [{ b: '2' }, undefined]);
    assert.ok(Number(next.metadata?.resourceVersion) > Number(read.metadata?.resourceVersion));
    const modified =
      `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; ` +
      'please apply your changes to the latest version and try again';
    const conflict = { kind: 'conflict', status: 409, reason: 'Conflict' } as const;
    await refused(put({ ...read, data: {} }), { ...conflict, words: modified });
    await refused(put({ metadata: { name, uid: 'another' }, data: {} }), {
      ...conflict,
      words: /UID in precondition: another/,
    });
    await refused(put({ metadata: { name: 'another' } }), { kind: 'invalid', status: 400, reason: 'BadRequest' });
    assert.deepEqual(await world.api.get(configMaps, world.ref(name)), next);
  });

  examine('an update without a version is unconditional, and cannot change what the server keeps', async (world) => {
    const read = await world.configMap();
    const name = read.metadata?.name ?? '';
    const metadata = { name, creationTimestamp: '2001-01-01T00:00:00Z', generation: 7 };
    const next = await world.api.update<ConfigMap>(configMaps, world.ref(name), { metadata, data: { c: '3' } });
    const { uid, creationTimestamp, generation } = next.metadata ?? {};
    assert.deepEqual([uid, creationTimestamp], [read.metadata?.uid, read.metadata?.creationTimestamp]);
    assert.deepEqual([generation, next.data], [undefined, { c: '3' }]);
  });

  examine('a write that changes nothing makes no new version', async (world) => {
    const read = await world.configMap({ data: { a: '1' } });
    const name = read.metadata?.name ?? '';
    const same = await world.api.update<ConfigMap>(configMaps, world.ref(name), {
      metadata: { name },
      data: { a: '1' },
    });
    assert.equal(same.metadata?.resourceVersion, read.metadata?.resourceVersion);
    const patched = await world.api.patch<ConfigMap>(configMaps, world.ref(name), {}, { type: 'merge' });
    assert.equal(patched.metadata?.resourceVersion, read.metadata?.resourceVersion);
  });

  examine('a lease is made by an update, and then needs its version', async (world) => {
    const name = world.unique('lease');
    const put = (holder: string, resourceVersion?: string): Promise<Lease> =>
      world.api.update<Lease>(leases, world.ref(name), {
        metadata: { name, ...(resourceVersion !== undefined && { resourceVersion }) },
        spec: { holderIdentity: holder, leaseDurationSeconds: 40, renewTime: '2025-01-01T00:00:00.000000Z' },
      });
    const made = await put('a');
    assert.equal(made.spec?.renewTime, '2025-01-01T00:00:00.000000Z');
    await refused(put('b'), {
      kind: 'invalid',
      status: 422,
      reason: 'Invalid',
      words: /must be specified for an update/,
    });
    const renewed = await put('b', made.metadata?.resourceVersion);
    assert.deepEqual([renewed.spec?.holderIdentity, renewed.metadata?.uid], ['b', made.metadata?.uid]);
    await refused(put('c', made.metadata?.resourceVersion), { kind: 'conflict', status: 409, reason: 'Conflict' });
  });
}
