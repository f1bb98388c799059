import assert from 'node:assert/strict';
import type { ConfigMap, Event, Pod, Service } from '../../gen/kubernetes/types.ts';
import type { ApiObject, ListRequest } from '../../model/api-client.ts';
import { apiResources, type ApiResource } from '../../model/api-resources.ts';
import { refused, type Examine, type RawAnswer, type World } from './world.ts';

const { configMaps, events, pods, services } = apiResources;

const namesOf = (items: readonly ApiObject[]): readonly string[] =>
  items.map(({ metadata }) => metadata?.name ?? '').toSorted();
const itemsOf = ({ value }: RawAnswer): readonly ApiObject[] => value['items'] as readonly ApiObject[];
const listMeta = ({ value }: RawAnswer): Readonly<Record<string, unknown>> =>
  value.metadata as Readonly<Record<string, unknown>>;

async function select(world: World, resource: ApiResource, request: ListRequest): Promise<readonly string[]> {
  return namesOf((await world.api.list(resource, { namespace: world.namespace, ...request })).items);
}

/** Some maps that only one test knows, by their label. */
async function family(
  world: World,
  count: number,
): Promise<{ readonly selector: string; readonly names: readonly string[] }> {
  const label = world.unique('family');
  const made = [];
  for (let at = 0; at < count; at++) made.push(await world.configMap({ metadata: { labels: { family: label } } }));
  return { selector: `family=${label}`, names: namesOf(made) };
}

export function listTests(examine: Examine): void {
  examine('a list has a version, and items without their kind', async (world) => {
    const { selector, names } = await family(world, 2);
    const raw = await world.raw('GET', world.path('configmaps', { labelSelector: selector }));
    assert.deepEqual([raw.value.kind, raw.value.apiVersion], ['ConfigMapList', 'v1']);
    assert.match(String(listMeta(raw)['resourceVersion']), /^\d+$/);
    assert.deepEqual(namesOf(itemsOf(raw)), names);
    assert.ok(itemsOf(raw).every((item) => item.kind === undefined && item.apiVersion === undefined));
    // The client fills it in, so that they look as they do alone.
    const { items } = await world.api.list<ConfigMap>(configMaps, {
      namespace: world.namespace,
      labelSelector: selector,
    });
    assert.ok(items.every((item) => item.kind === 'ConfigMap' && item.apiVersion === 'v1'));
  });

  examine('pages are of one version, whatever happens between them', async (world) => {
    const { selector, names } = await family(world, 5);
    const ask = (more: Readonly<Record<string, string>>): Promise<RawAnswer> =>
      world.raw('GET', world.path('configmaps', { limit: '2', labelSelector: selector, ...more }));
    const first = await ask({});
    await world.api.delete(configMaps, world.ref(names[4] ?? ''));
    await world.configMap({ metadata: { labels: { family: selector.split('=')[1] ?? '' } } });
    const second = await ask({ continue: String(listMeta(first)['continue']) });
    const third = await ask({ continue: String(listMeta(second)['continue']) });
    const pages = [first, second, third];
    assert.deepEqual(
      pages.map((page) => itemsOf(page).length),
      [2, 2, 1],
    );
    assert.deepEqual(namesOf(pages.flatMap(itemsOf)), names);
    assert.equal(new Set(pages.map((page) => listMeta(page)['resourceVersion'])).size, 1);
    assert.equal(listMeta(third)['continue'] ?? '', '');
    assert.equal(listMeta(first)['remainingItemCount'], undefined);
    const fresh = await world.raw('GET', world.path('configmaps', { limit: '1' }));
    assert.ok(Number(listMeta(fresh)['remainingItemCount']) >= 4);
  });

  examine('version 0 means whatever is at hand, all at once', async (world) => {
    const { selector } = await family(world, 3);
    const query = { limit: '1', resourceVersion: '0', labelSelector: selector };
    const raw = await world.raw('GET', world.path('configmaps', query));
    assert.equal(itemsOf(raw).length, 3);
  });

  examine('a list can be one not older than a version', async (world) => {
    const { metadata } = await world.configMap();
    const { resourceVersion = '' } = metadata ?? {};
    const list = await world.api.list(configMaps, { namespace: world.namespace, resourceVersion });
    assert.ok(Number(list.metadata.resourceVersion) >= Number(resourceVersion));
    assert.ok(namesOf(list.items).includes(metadata?.name ?? ''));
  });

  examine('a version that is not there yet is refused after a while', async (world) => {
    const resourceVersion = '1000000000';
    const list = world.api.list(configMaps, { namespace: world.namespace, resourceVersion });
    const error = await refused(list, {
      kind: 'timeout',
      status: 504,
      reason: 'Timeout',
      words: /^Timeout: Too large resource version: 1000000000, current: \d+$/,
    });
    assert.deepEqual([error.causes, error.retryAfterMs], [['ResourceVersionTooLarge'], 1_000]);
  });

  examine('a list can be exactly of a version', async (world) => {
    const { selector, names } = await family(world, 2);
    const version = await world.version();
    await world.api.delete(configMaps, world.ref(names[0] ?? ''));
    const query = { labelSelector: selector, resourceVersion: version, resourceVersionMatch: 'Exact' };
    const then = await world.raw('GET', world.path('configmaps', query));
    assert.deepEqual([namesOf(itemsOf(then)), listMeta(then)['resourceVersion']], [names, version]);
    assert.deepEqual(await select(world, configMaps, { labelSelector: selector }), names.slice(1));
  });

  examine('questions that make no sense are refused', async (world) => {
    const ask = async (query: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
      const { status, value } = await world.raw('GET', world.path('configmaps', query));
      return [status, value['reason']];
    };
    const invalid = [422, 'Invalid'];
    const bad = [400, 'BadRequest'];
    assert.deepEqual(await ask({ resourceVersionMatch: 'Exact' }), invalid);
    assert.deepEqual(await ask({ resourceVersionMatch: 'Nonsense', resourceVersion: '5' }), invalid);
    assert.deepEqual(await ask({ resourceVersion: 'abc' }), bad);
    assert.deepEqual(await ask({ continue: 'xx' }), bad);
    assert.deepEqual(await ask({ labelSelector: ')(' }), bad);
    await family(world, 2);
    const page = await world.raw('GET', world.path('configmaps', { limit: '1' }));
    const token = String(listMeta(page)['continue']);
    assert.deepEqual(await ask({ continue: token, resourceVersion: '5' }), bad);
  });

  examine('labels select', async (world) => {
    const group = world.unique('group');
    const label = async (more: Readonly<Record<string, string>>): Promise<string> =>
      (await world.configMap({ metadata: { labels: { group, ...more } } })).metadata?.name ?? '';
    const red = await label({ colour: 'red' });
    const blue = await label({ colour: 'blue', size: 'big' });
    const none = await label({});
    const by = (text: string): Promise<readonly string[]> =>
      select(world, configMaps, { labelSelector: `group=${group},${text}` });
    assert.deepEqual(await by('colour=red'), [red]);
    assert.deepEqual(await by('colour==red'), [red]);
    assert.deepEqual(await by('colour!=red'), [blue, none].toSorted());
    assert.deepEqual(await by('colour'), [blue, red].toSorted());
    assert.deepEqual(await by('!colour'), [none]);
    assert.deepEqual(await by('colour in (red, blue),size'), [blue]);
    assert.deepEqual(await by('colour notin (red)'), [blue, none].toSorted());
  });

  examine('fields select, those of the kind only', async (world) => {
    const { names } = await family(world, 2);
    const [name = ''] = names;
    assert.deepEqual(await select(world, configMaps, { fieldSelector: `metadata.name=${name}` }), [name]);
    const bad = { kind: 'invalid', status: 400, reason: 'BadRequest' } as const;
    const unknown = '"spec.none" is not a known field selector: only "metadata.name", "metadata.namespace"';
    await refused(select(world, configMaps, { fieldSelector: 'spec.none=1' }), { ...bad, words: unknown });
    const unsupported = 'field label not supported: spec.none';
    await refused(select(world, pods, { fieldSelector: 'spec.none=1' }), { ...bad, words: unsupported });
  });

  examine('pods are selected by their node and their phase', async (world) => {
    const here = (await world.pod()).metadata?.name ?? '';
    const nowhere = (await world.pod({ spec: { nodeName: '' } })).metadata?.name ?? '';
    const byNode = await select(world, pods, { fieldSelector: `spec.nodeName=${world.node}` });
    assert.ok(byNode.includes(here) && !byNode.includes(nowhere));
    // In all namespaces too, as the agent asks.
    const { items } = await world.api.list<Pod>(pods, { fieldSelector: `spec.nodeName=${world.node}` });
    assert.ok(namesOf(items).includes(here) && items.every(({ spec }) => spec?.nodeName === world.node));
    const others = await select(world, pods, { fieldSelector: `spec.nodeName!=${world.node},status.phase=Pending` });
    assert.ok(others.includes(nowhere) && !others.includes(here));
  });

  examine('services are selected by their address, events by what they are about', async (world) => {
    const service = (spec: NonNullable<Service['spec']>): Promise<Service> =>
      world.api.create<Service>(services, world.namespace, { metadata: { name: world.unique('service') }, spec });
    const ports = [{ port: 80 }];
    const normal = (await service({ ports })).metadata?.name ?? '';
    const headless = (await service({ ports, clusterIP: 'None' })).metadata?.name ?? '';
    const found = await select(world, services, { fieldSelector: 'spec.clusterIP!=None' });
    assert.ok(found.includes(normal) && !found.includes(headless));

    const name = world.unique('event');
    await world.api.create<Event>(events, world.namespace, {
      metadata: { name, namespace: world.namespace },
      involvedObject: { kind: 'Pod', namespace: world.namespace, name },
      reason: 'Tested',
      message: 'x',
      type: 'Normal',
      count: 1,
    });
    const counted = await world.api.patch<Event>(events, world.ref(name), { count: 2 }, { type: 'strategic' });
    assert.equal(counted.count, 2);
    const fieldSelector = `involvedObject.name=${name},reason=Tested,type=Normal`;
    assert.deepEqual(await select(world, events, { fieldSelector }), [name]);
    assert.deepEqual(await select(world, events, { fieldSelector: `involvedObject.name=${name},reason=Other` }), []);
  });
}
