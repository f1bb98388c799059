import assert from 'node:assert/strict';
import type { ConfigMap, Pod } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import { refused, type Examine } from './world.ts';

const { configMaps, pods } = apiResources;
const nameOf = ({ metadata }: ConfigMap): string => metadata?.name ?? '';
const missing = { kind: 'notFound', status: 404, reason: 'NotFound' } as const;
const conflict = { kind: 'conflict', status: 409, reason: 'Conflict' } as const;

/** Objects go: at once, after a grace, or when nobody holds them any more. */
export function deleteTests(examine: Examine): void {
  examine('an object that nobody holds is gone at once', async (world) => {
    const ref = world.ref(nameOf(await world.configMap()));
    await world.api.delete(configMaps, ref);
    await refused(world.api.get(configMaps, ref), missing);
    await refused(world.api.delete(configMaps, ref), { ...missing, words: `configmaps "${ref.name}" not found` });
  });

  examine('only the object that is meant goes', async (world) => {
    const made = await world.configMap();
    const ref = world.ref(nameOf(made));
    const { uid = '', resourceVersion = '' } = made.metadata ?? {};
    await refused(world.api.delete(configMaps, ref, { uid: 'another' }), {
      ...conflict,
      words:
        `Operation cannot be fulfilled on ConfigMap "${ref.name}": the UID in the precondition (another) does not match ` +
        `the UID in record (${uid}). The object might have been deleted and then recreated`,
    });
    await refused(world.api.delete(configMaps, ref, { resourceVersion: '1' }), {
      ...conflict,
      words:
        `Operation cannot be fulfilled on ConfigMap "${ref.name}": the ResourceVersion in the precondition (1) does not ` +
        `match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    });
    await world.api.delete(configMaps, ref, { uid, resourceVersion });
    await refused(world.api.get(configMaps, ref), missing);
  });

  examine('a pod on a node gets its grace, which can only be made shorter', async (world) => {
    const pod = await world.pod();
    const ref = world.ref(nameOf(pod));
    const ends = async (gracePeriodSeconds?: number): Promise<Pod['metadata']> => {
      await world.api.delete(pods, ref, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
      return (await world.api.get<Pod>(pods, ref)).metadata;
    };
    const first = await ends();
    const begun = Date.parse(first?.deletionTimestamp ?? '') - 30_000;
    assert.equal(first?.deletionGracePeriodSeconds, 30);
    assert.ok(begun >= Date.parse(pod.metadata?.creationTimestamp ?? ''));
    assert.equal(first?.generation, 2);
    assert.deepEqual(await ends(60), first);
    assert.deepEqual(await ends(), first);
    const shorter = await ends(5);
    assert.equal(shorter?.deletionGracePeriodSeconds, 5);
    assert.equal(Date.parse(shorter?.deletionTimestamp ?? ''), begun + 5_000);
    assert.equal(shorter?.generation, 2);
    await refused(world.api.delete(pods, ref, { gracePeriodSeconds: 0, uid: 'another' }), conflict);
    await world.api.delete(pods, ref, { gracePeriodSeconds: 0, uid: pod.metadata?.uid ?? '' });
    await refused(world.api.get(pods, ref), missing);
  });

  examine('a pod that ends can still be written', async (world) => {
    const ref = world.ref(nameOf(await world.pod()));
    await world.api.delete(pods, ref);
    const patch = { metadata: { deletionTimestamp: null }, status: { phase: 'Failed' } };
    const next = await world.api.patch<Pod>(pods, ref, patch, { type: 'merge', subresource: 'status' });
    assert.equal(next.status?.phase, 'Failed');
    assert.equal(next.metadata?.deletionGracePeriodSeconds, 30);
    assert.ok(next.metadata?.deletionTimestamp !== undefined);
    await world.api.delete(pods, ref, { gracePeriodSeconds: 0 });
  });

  examine('a pod that runs nowhere needs no grace', async (world) => {
    const unbound = world.ref(nameOf(await world.pod({ spec: { nodeName: '' } })));
    await world.api.delete(pods, unbound);
    await refused(world.api.get(pods, unbound), missing);
    const over = world.ref(nameOf(await world.pod()));
    await world.api.patch(pods, over, { status: { phase: 'Succeeded' } }, { type: 'strategic', subresource: 'status' });
    await world.api.delete(pods, over);
    await refused(world.api.get(pods, over), missing);
  });

  examine('finalizers hold an object until the last one goes', async (world) => {
    const made = await world.configMap({ metadata: { finalizers: ['example.com/a', 'example.com/b'] } });
    const ref = world.ref(nameOf(made));
    const hold = (finalizers: readonly string[] | null): Promise<ConfigMap> =>
      world.api.patch<ConfigMap>(configMaps, ref, { metadata: { finalizers } }, { type: 'merge' });
    await world.api.delete(configMaps, ref);
    const held = await world.api.get<ConfigMap>(configMaps, ref);
    assert.ok(held.metadata?.deletionTimestamp !== undefined);
    assert.equal(held.metadata.deletionGracePeriodSeconds, 0);
    await world.api.delete(configMaps, ref);
    const again = await world.api.get<ConfigMap>(configMaps, ref);
    assert.equal(again.metadata?.resourceVersion, held.metadata.resourceVersion);
    assert.deepEqual((await hold(['example.com/b'])).metadata?.finalizers, ['example.com/b']);
    const last = await hold(null);
    assert.equal(last.metadata?.finalizers, undefined);
    await refused(world.api.get(configMaps, ref), missing);
  });

  examine('a watch sees each step of an end', async (world) => {
    const pod = await world.pod({ metadata: { finalizers: ['example.com/a'] } });
    const ref = world.ref(nameOf(pod));
    const { resourceVersion = '' } = pod.metadata ?? {};
    const tap = await world.watch<Pod>(pods, { resourceVersion, fieldSelector: `metadata.name=${ref.name}` });
    await world.api.delete(pods, ref, { gracePeriodSeconds: 20 });
    await world.api.delete(pods, ref, { gracePeriodSeconds: 0 });
    await world.api.patch(pods, ref, { metadata: { finalizers: null } }, { type: 'merge' });
    const seen = (await tap.gather(3)).map(({ type, object }) => {
      const { deletionGracePeriodSeconds, finalizers } = (object as Pod).metadata ?? {};
      return [type, deletionGracePeriodSeconds, finalizers];
    });
    // The last state is the one before the write that ended it.
    assert.deepEqual(seen, [
      ['MODIFIED', 20, ['example.com/a']],
      ['MODIFIED', 0, ['example.com/a']],
      ['DELETED', 0, ['example.com/a']],
    ]);
    tap.close();
  });

  examine('a watch sees a pod that is killed at once marked before it is gone', async (world) => {
    const pod = await world.pod();
    const ref = world.ref(nameOf(pod));
    const { resourceVersion = '' } = pod.metadata ?? {};
    const tap = await world.watch<Pod>(pods, { resourceVersion, fieldSelector: `metadata.name=${ref.name}` });
    await world.api.delete(pods, ref, { gracePeriodSeconds: 0 });
    const [marked, gone] = await tap.gather(2);
    assert.deepEqual([marked?.type, gone?.type], ['MODIFIED', 'DELETED']);
    const last = gone?.object as Pod | undefined;
    assert.deepEqual([last?.metadata?.deletionGracePeriodSeconds, last?.metadata?.generation], [0, 2]);
    tap.close();
  });
}
