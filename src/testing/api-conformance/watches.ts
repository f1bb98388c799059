import assert from 'node:assert/strict';
import type { WatchEvent } from '../../apiserver/index.ts';
import type { ConfigMap, Pod, Status } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import { clock, refused, type Examine } from './world.ts';

const { configMaps, pods } = apiResources;
const nameOf = ({ metadata }: ConfigMap): string => metadata?.name ?? '';
const versionOf = (event: WatchEvent<ConfigMap>): number => Number(event.object.metadata?.resourceVersion);

export function watchTests(examine: Examine): void {
  examine('a watch tells what comes after a version, in order and once', async (world) => {
    const resourceVersion = await world.version();
    const labels = { watched: world.unique('w') };
    const labelSelector = `watched=${labels.watched}`;
    const made = await world.configMap({ data: { n: '1' }, metadata: { labels } });
    const late = await world.watch<ConfigMap>(configMaps, { resourceVersion, labelSelector });
    await world.api.patch(configMaps, world.ref(nameOf(made)), { data: { n: '2' } }, { type: 'merge' });
    await world.api.delete(configMaps, world.ref(nameOf(made)));
    const seen = await late.gather(3);
    assert.deepEqual(
      late.told,
      ['ADDED', 'MODIFIED', 'DELETED'].map((type) => `${type} ${nameOf(made)}`),
    );
    const [first = 0, second = 0, third = 0] = seen.map(versionOf);
    assert.ok(Number(resourceVersion) < first && first < second && second < third);
    assert.deepEqual(
      seen.map(({ object }) => (object as ConfigMap).data?.['n']),
      ['1', '2', '2'],
    );
    assert.ok(seen.every(({ object }) => object.kind === 'ConfigMap' && object.apiVersion === 'v1'));
    // Another one from the middle tells the rest.
    const rest = await world.watch<ConfigMap>(configMaps, { resourceVersion: String(first), labelSelector });
    assert.deepEqual(await rest.gather(2), seen.slice(1));
    late.close();
    rest.close();
  });

  examine('what enters or leaves a selection is added or deleted', async (world) => {
    const name = world.unique('turncoat');
    const labelSelector = `side=${name}`;
    const resourceVersion = await world.version();
    const tap = await world.watch<ConfigMap>(configMaps, { resourceVersion, labelSelector });
    const side = (value: string, n: string): Promise<ConfigMap> =>
      world.api.patch(
        configMaps,
        world.ref(name),
        { metadata: { labels: { side: value } }, data: { n } },
        { type: 'merge' },
      );
    await world.configMap({ metadata: { labels: { side: 'other' } } }, name);
    await side(name, '1');
    const left = await side('other', '2');
    await side('other', '3');
    await side(name, '4');
    await world.api.delete(configMaps, world.ref(name));
    const seen = await tap.gather(4);
    assert.deepEqual(
      seen.map(({ type, object }) => `${type} ${(object as ConfigMap).data?.['n']}`),
      ['ADDED 1', 'DELETED 1', 'ADDED 4', 'DELETED 4'],
    );
    // What is told is the last state that was selected, with the version of the write that ended it.
    const parting = seen[1] ?? assert.fail();
    assert.equal(versionOf(parting), Number(left.metadata?.resourceVersion));
    assert.deepEqual((parting.object as ConfigMap).metadata?.labels, { side: name });
    tap.close();
  });

  examine('a watch of a node begins to see a pod when it is bound', async (world) => {
    const resourceVersion = await world.version();
    const fieldSelector = `spec.nodeName=${world.unique('elsewhere')}`;
    const node = fieldSelector.split('=')[1] ?? '';
    const tap = await world.watch<Pod>(pods, { resourceVersion, fieldSelector });
    const ref = world.ref(nameOf(await world.pod({ spec: { nodeName: '' } })));
    const binding = { metadata: { name: ref.name }, target: { kind: 'Node', name: node } };
    await world.api.create(pods, world.namespace, binding, { of: ref.name, subresource: 'binding' });
    const [seen] = await tap.gather(1);
    const bound = seen?.object as Pod | undefined;
    assert.deepEqual([seen?.type, bound?.spec?.nodeName], ['ADDED', node]);
    await world.api.delete(pods, ref, { gracePeriodSeconds: 0 });
    tap.close();
  });

  examine('a watch ends in order when its time is up, after a bookmark', async (world) => {
    const began = clock.monotonic();
    const { metadata } = await world.configMap();
    const resourceVersion = metadata?.resourceVersion ?? '';
    const tap = await world.watch<ConfigMap>(configMaps, { resourceVersion, timeoutSeconds: 4 });
    const later = await world.configMap();
    await tap.ended();
    const lastedMs = clock.monotonic() - began;
    assert.ok(lastedMs > 3_500 && lastedMs < 20_000, `it took ${lastedMs} ms`);
    const bookmark = tap.events.at(-1) ?? assert.fail('nothing came');
    assert.equal(bookmark.type, 'BOOKMARK');
    assert.ok(versionOf(bookmark) >= Number(later.metadata?.resourceVersion));
    assert.deepEqual(Object.keys(bookmark.object.metadata ?? {}), ['resourceVersion']);
    assert.equal(bookmark.object.kind, 'ConfigMap');
  });

  examine('a watch from a version that is not there yet keeps silent', async (world) => {
    const tap = await world.watch<ConfigMap>(configMaps, { resourceVersion: '1000000000', timeoutSeconds: 3 });
    await world.configMap();
    await tap.ended();
    assert.deepEqual(tap.events, []);
  });

  examine('a watch needs selectors and versions that make sense', async (world) => {
    const bad = { kind: 'invalid', status: 400, reason: 'BadRequest' } as const;
    const resourceVersion = await world.version();
    await refused(world.watch(configMaps, { resourceVersion, fieldSelector: 'spec.none=1' }), bad);
    await refused(world.watch(configMaps, { resourceVersion: 'abc' }), { kind: 'unavailable', status: 500 });
  });
}

/** These make the server forget, so they come last. */
export function forgettingTests(examine: Examine): void {
  examine('versions that were forgotten are told to be', async (world) => {
    for (let count = 0; count < 3; count++) await world.configMap();
    const page = await world.raw('GET', world.path('configmaps', { limit: '1' }));
    const { continue: token = '', resourceVersion = '' } = page.value.metadata as Readonly<Record<string, string>>;
    await world.configMap();
    await world.forget();

    const tap = await world.watch<ConfigMap>(configMaps, { resourceVersion });
    await tap.ended();
    assert.deepEqual(
      tap.events.map(({ type }) => type),
      ['ERROR'],
    );
    const { message, ...status } = (tap.events[0] ?? assert.fail()).object as Status;
    assert.deepEqual(status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Expired',
      code: 410,
    });
    assert.match(message ?? '', new RegExp(`^too old resource version: ${resourceVersion} \\(\\d+\\)$`));

    const next = await world.raw('GET', world.path('configmaps', { limit: '500', continue: token }));
    assert.deepEqual([next.status, next.value['reason'], next.value['code']], [410, 'Expired', 410]);
    const other = (next.value.metadata as Readonly<Record<string, string>>)['continue'] ?? '';
    const rest = await world.raw('GET', world.path('configmaps', { limit: '500', continue: other }));
    const whole = await world.api.list(configMaps, { namespace: world.namespace });
    assert.equal((rest.value['items'] as readonly unknown[]).length, whole.items.length - 1);

    const exact = { resourceVersion, resourceVersionMatch: 'Exact' };
    assert.equal((await world.raw('GET', world.path('configmaps', exact))).status, 410);
    const later = await world.api.list(configMaps, { namespace: world.namespace, resourceVersion });
    assert.equal(later.items.length, whole.items.length);
  });
}
