import assert from 'node:assert/strict';
import type { ConfigMap, Node, Pod } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import { refused, type Examine, type World } from './world.ts';

const { configMaps, nodes, pods } = apiResources;
const nameOf = ({ metadata }: ConfigMap): string => metadata?.name ?? '';

/** Patches of the three sorts, and what holds them back. */
export function patchTests(examine: Examine): void {
  examine('a merge patch sets, replaces and takes away', async (world) => {
    const made = await world.configMap({ data: { a: '1', b: '2' }, metadata: { labels: { x: '1' } } });
    const patch = { data: { a: null, c: '3' }, metadata: { labels: { y: '2' } } };
    const next = await world.api.patch<ConfigMap>(configMaps, world.ref(nameOf(made)), patch, { type: 'merge' });
    assert.deepEqual(
      [next.data, next.metadata?.labels],
      [
        { b: '2', c: '3' },
        { x: '1', y: '2' },
      ],
    );
  });

  examine('a JSON patch is carried out step by step, or not at all', async (world) => {
    const made = await world.configMap({ data: { a: '1' }, metadata: { finalizers: ['example.com/b'] } });
    const ref = world.ref(nameOf(made));
    const patch = (steps: unknown): Promise<ConfigMap> =>
      world.api.patch<ConfigMap>(configMaps, ref, steps, { type: 'json' });
    const next = await patch([
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'copy', from: '/data/a', path: '/data/b' },
      { op: 'move', from: '/data/a', path: '/data/c' },
      { op: 'replace', path: '/data/b', value: 'two' },
      { op: 'add', path: '/data/with~1slash', value: 'x' },
      { op: 'remove', path: '/data/with~1slash' },
      { op: 'add', path: '/metadata/finalizers/0', value: 'example.com/a' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ]);
    assert.deepEqual(next.data, { b: 'two', c: '1' });
    assert.deepEqual(next.metadata?.finalizers, ['example.com/a', 'example.com/c']);
    const failed = { kind: 'invalid', status: 422, reason: 'Invalid' } as const;
    await refused(
      patch([
        { op: 'remove', path: '/data/b' },
        { op: 'test', path: '/data/c', value: '2' },
      ]),
      failed,
    );
    await refused(patch([{ op: 'remove', path: '/data/none' }]), failed);
    await refused(patch({ op: 'remove' }), { kind: 'invalid', status: 400, reason: 'BadRequest' });
    const now = await world.api.get<ConfigMap>(configMaps, ref);
    assert.deepEqual(now.data, { b: 'two', c: '1' });
    await patch([{ op: 'remove', path: '/metadata/finalizers' }]);
  });

  examine('a strategic patch merges lists by key and keeps what it does not name', async (world) => {
    const ref = { name: world.node };
    const patch = (status: object): Promise<Node> =>
      world.api.patch<Node>(nodes, ref, { status }, { type: 'strategic', subresource: 'status' });
    const of = (node: Node): readonly string[] =>
      (node.status?.conditions ?? []).map(({ type, status }) => `${type}=${status}`);
    await patch({ conditions: [{ type: 'Foreign', status: 'True', reason: 'Mine', message: 'x' }] });
    await patch({ conditions: [{ type: 'Example', status: 'False' }] });
    const both = await patch({ conditions: [{ type: 'Example', status: 'True' }] });
    assert.ok(of(both).includes('Foreign=True') && of(both).includes('Example=True'), of(both).join(' '));
    assert.equal(both.status?.conditions?.find(({ type }) => type === 'Foreign')?.reason, 'Mine');
    const one = await patch({ conditions: [{ type: 'Example', $patch: 'delete' }] });
    assert.ok(
      of(one).includes('Foreign=True') && !of(one).some((text) => text.startsWith('Example')),
      of(one).join(' '),
    );
    const addresses = [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: '10.0.0.2' },
    ];
    const replaced = await patch({ addresses: [...addresses, { $patch: 'replace' }] });
    assert.deepEqual(replaced.status?.addresses, addresses);
  });

  examine('a patch may name the version it means', async (world) => {
    const made = await world.configMap();
    const ref = world.ref(nameOf(made));
    const patch = (value: string, resourceVersion?: string): Promise<ConfigMap> =>
      world.api.patch<ConfigMap>(
        configMaps,
        ref,
        { metadata: { resourceVersion }, data: { value } },
        { type: 'merge' },
      );
    const next = await patch('1', made.metadata?.resourceVersion);
    assert.deepEqual(next.data, { value: '1' });
    await refused(patch('2', made.metadata?.resourceVersion), {
      kind: 'conflict',
      status: 409,
      reason: 'Conflict',
      words: /the object has been modified/,
    });
  });

  examine('a patch that names the uid of another object is a conflict', async (world) => {
    const pod = await world.pod();
    const ref = world.ref(nameOf(pod));
    const patch = (uid: string): Promise<Pod> =>
      world.api.patch<Pod>(
        pods,
        ref,
        { metadata: { uid }, status: { message: 'x' } },
        { type: 'strategic', subresource: 'status' },
      );
    await refused(patch('another'), {
      kind: 'conflict',
      status: 422,
      reason: 'Invalid',
      words: `Pod "${ref.name}" is invalid: metadata.uid: Invalid value: "another": field is immutable`,
    });
    const next = await patch(pod.metadata?.uid ?? '');
    assert.equal(next.status?.message, 'x');
  });

  examine('what is no patch is refused', async (world) => {
    const made = await world.configMap();
    const ref = world.ref(nameOf(made));
    const path = world.path(`configmaps/${ref.name}`);
    const send = async (body: unknown, type: string): Promise<number> =>
      (await world.raw('PATCH', path, body, type)).status;
    assert.equal(await send({}, 'application/json'), 415);
    assert.equal(await send('nonsense', 'application/merge-patch+json'), 400);
    assert.equal(await send('nonsense', 'application/strategic-merge-patch+json'), 400);
    assert.equal(await send({ metadata: { name: 'another' } }, 'application/merge-patch+json'), 400);
    await refused(world.api.patch(configMaps, world.ref('none'), {}, { type: 'merge' }), {
      kind: 'notFound',
      status: 404,
    });
  });

  examine('a patch cannot take away what the server keeps', async (world) => {
    const made = await world.configMap();
    const patch = { metadata: { uid: null, resourceVersion: null, creationTimestamp: null } };
    const next = await world.api.patch<ConfigMap>(configMaps, world.ref(nameOf(made)), patch, { type: 'merge' });
    assert.deepEqual(next.metadata, made.metadata);
  });
}

/** Status and the rest are written apart. */
export function statusTests(examine: Examine): void {
  const write = (world: World, name: string, patch: object, subresource?: 'status'): Promise<Pod> =>
    world.api.patch<Pod>(pods, world.ref(name), patch, {
      type: 'strategic',
      ...(subresource !== undefined && { subresource }),
    });

  examine('a pod begins Pending, whatever status it was given', async (world) => {
    const pod = await world.pod({ status: { phase: 'Running', message: 'x' } });
    assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'BestEffort' });
    assert.equal(pod.metadata?.generation, 1);
    const { restartPolicy, terminationGracePeriodSeconds, dnsPolicy, serviceAccountName } = pod.spec ?? {};
    assert.deepEqual(
      [restartPolicy, terminationGracePeriodSeconds, dnsPolicy, serviceAccountName],
      ['Always', 30, 'ClusterFirst', 'default'],
    );
  });

  examine('a write of the status changes labels and the status, and not the spec', async (world) => {
    const pod = await world.pod();
    const change = {
      metadata: { labels: { a: 'b' } },
      spec: { activeDeadlineSeconds: 5 },
      status: { phase: 'Running' },
    };
    const next = await write(world, nameOf(pod), change, 'status');
    assert.deepEqual([next.status?.phase, next.metadata?.labels], ['Running', { a: 'b' }]);
    assert.deepEqual([next.spec, next.metadata?.generation], [pod.spec, 1]);
  });

  examine('a write of the object changes the spec, and not the status', async (world) => {
    const pod = await world.pod();
    const next = await write(world, nameOf(pod), { spec: { activeDeadlineSeconds: 5 }, status: { phase: 'Running' } });
    assert.deepEqual([next.spec?.activeDeadlineSeconds, next.status?.phase], [5, 'Pending']);
    assert.equal(next.metadata?.generation, 2);
    const put = await world.api.update<Pod>(pods, world.ref(nameOf(pod)), { ...next, status: { phase: 'Failed' } });
    assert.equal(put.status?.phase, 'Pending');
  });

  examine('little of a pod can be changed', async (world) => {
    const pod = await world.pod();
    const name = nameOf(pod);
    const image = await write(world, name, { spec: { containers: [{ name: 'main', image: 'example.com/other' }] } });
    assert.equal(image.spec?.containers[0]?.image, 'example.com/other');
    await refused(write(world, name, { spec: { nodeName: 'another' } }), {
      kind: 'invalid',
      status: 422,
      reason: 'Invalid',
      words:
        /^Pod "[^"]+" is invalid: spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
    });
  });

  examine('what has no status has no path for it', async (world) => {
    const made = await world.configMap();
    const type = 'application/merge-patch+json';
    const answer = await world.raw('PATCH', world.path(`configmaps/${nameOf(made)}/status`), {}, type);
    assert.equal(answer.status, 404);
  });

  examine('a node keeps the status that it was made with', async (world) => {
    const name = world.unique('node');
    const status = { capacity: { cpu: '2' } };
    const node = await world.api.create<Node>(nodes, undefined, { metadata: { name }, status });
    assert.equal(node.status?.capacity?.['cpu'], '2');
    const patch = { spec: { unschedulable: true }, status: { capacity: { cpu: '4' } } };
    const next = await world.api.patch<Node>(nodes, { name }, patch, { type: 'strategic' });
    assert.deepEqual([next.spec?.unschedulable, next.status?.capacity?.['cpu']], [true, '2']);
    await world.api.delete(nodes, { name });
  });

  examine('a pod is bound once', async (world) => {
    const pod = await world.pod({ spec: { nodeName: '' } });
    const name = nameOf(pod);
    const bind = (node: string): Promise<unknown> => {
      const binding = { metadata: { name }, target: { kind: 'Node', name: node } };
      return world.api.create(pods, world.namespace, binding, { of: name, subresource: 'binding' });
    };
    await bind(world.node);
    const bound = await world.api.get<Pod>(pods, world.ref(name));
    assert.equal(bound.spec?.nodeName, world.node);
    const scheduled = bound.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    assert.equal(scheduled?.status, 'True');
    const words = `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} is already assigned to node "${world.node}"`;
    await refused(bind('another'), { kind: 'conflict', status: 409, reason: 'Conflict', words });
  });
}
