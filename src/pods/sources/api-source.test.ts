import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { configAnnotations } from '../../model/annotations.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { ApiSource } from './api-source.ts';

const pod = (name: string, more: Partial<NonNullable<Pod['metadata']>> = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, ...more },
  spec: { containers: [{ name: 'c', image: 'busybox' }] },
});

class World {
  readonly log = new MemoryLog();
  pods: readonly Pod[] = [];
  synced = false;
  nodeKnown = false;
  readonly sets: (readonly DesiredPod[])[] = [];
  readonly mirrors: (readonly Pod[])[] = [];
  readonly source = new ApiSource({
    log: this.log,
    pods: { synced: () => this.synced, all: () => this.pods, get: () => undefined },
    nodeKnown: () => this.nodeKnown,
    onSet: (_, pods) => void this.sets.push(pods),
    onMirrors: (mirrors) => void this.mirrors.push(mirrors),
  });

  async changed(times = 1): Promise<void> {
    for (let at = 0; at < times; at++) this.source.changed();
    await Promise.resolve();
  }
}

describe('ApiSource', () => {
  test('publishes nothing before the pods and the node have been listed, then even an empty set', async () => {
    const world = new World();
    await world.changed();
    world.synced = true;
    await world.changed();
    assert.deepEqual(world.sets, []);
    world.nodeKnown = true;
    await world.changed();
    assert.deepEqual(world.sets, [[]]);
  });

  test('changes of one moment are one set, and unchanged objects keep their value', async () => {
    const world = new World();
    Object.assign(world, { synced: true, nodeKnown: true });
    const [a, b] = [pod('a'), pod('b')];
    world.pods = [a, b];
    await world.changed(3);
    assert.equal(world.sets.length, 1);
    world.pods = [a, pod('b')];
    await world.changed();
    assert.equal(world.sets[1]?.[0], world.sets[0]?.[0]);
    assert.notEqual(world.sets[1]?.[1], world.sets[0]?.[1]);
    assert.equal(world.sets[0]?.[0]?.source, 'api');
  });

  test('mirror pods are published apart: no worker runs them', async () => {
    const world = new World();
    Object.assign(world, { synced: true, nodeKnown: true });
    const mirror = pod('static-node', { annotations: { [configAnnotations.mirror]: 'hash' } });
    world.pods = [pod('a'), mirror];
    await world.changed();
    assert.deepEqual(
      world.sets[0]?.map(({ name }) => name),
      ['a'],
    );
    assert.deepEqual(world.mirrors, [[mirror]]);
  });

  test('an object that is no pod is left out and logged once', async () => {
    const world = new World();
    Object.assign(world, { synced: true, nodeKnown: true });
    const broken: Pod = { metadata: { name: 'x', namespace: 'default' } };
    world.pods = [broken, pod('a')];
    await world.changed();
    await world.changed();
    assert.deepEqual(
      world.sets[1]?.map(({ name }) => name),
      ['a'],
    );
    assert.equal(world.log.entries.filter(({ message }) => message.startsWith('Leaving out a pod')).length, 1);
  });

  test('leaves out a pod with names that lead elsewhere: they become names of folders, logs and hosts', async () => {
    const named = (spec: Partial<NonNullable<Pod['spec']>>, more: Parameters<typeof pod>[1] = {}): Pod => {
      const made = pod('x', more);
      return { ...made, spec: { containers: [{ name: 'c', image: 'busybox' }], ...spec } };
    };
    const container = (name: string) => [{ name, image: 'busybox' }];
    const cases: readonly (readonly [Pod, string])[] = [
      [named({}, { uid: '../x' }), 'metadata.uid'],
      [named({}, { name: 'a/b' }), 'metadata.name'],
      [named({}, { namespace: '..' }), 'metadata.namespace'],
      [named({ containers: container('/mnt/..') }), 'spec.containers[0].name'],
      [named({ containers: container('') }), 'spec.containers[0].name'],
      [named({ initContainers: container('a\0b') }), 'spec.initContainers[0].name'],
      [named({ ephemeralContainers: container('..') }), 'spec.ephemeralContainers[0].name'],
      [named({ volumes: [{ name: '../v' }] }), 'spec.volumes[0].name'],
      [named({ hostname: 'a\0b' }), 'spec.hostname'],
      [named({ subdomain: '/' }), 'spec.subdomain'],
      [named({ hostnameOverride: '../x' }), 'spec.hostnameOverride'],
    ];
    for (const [one, field] of cases) {
      const world = new World();
      Object.assign(world, { synced: true, nodeKnown: true, pods: [one, pod('a')] });
      await world.changed();
      assert.deepEqual(
        world.sets[0]?.map(({ name }) => name),
        ['a'],
        field,
      );
      const [warning] = world.log.entries;
      assert.equal(warning?.message, 'Leaving out a pod of the API server');
      assert.ok(String(warning?.fields['err']).includes(`${field}: Invalid value: `), String(warning?.fields['err']));
    }
  });
});
