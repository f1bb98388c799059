import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { PodFullName } from '../../base/ids.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { configAnnotations } from '../../model/annotations.ts';
import type { ApiWriter } from '../../model/api-client.ts';
import { desiredPod, type DesiredPod } from '../../model/desired-pod.ts';
import { toStaticPod } from '../../model/static-pod.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { computeMirrorAction, mirrorOf, type MirrorInput } from './compute-mirror.ts';
import { MirrorPodReconciler } from './mirror-pod-reconciler.ts';
import { MirrorPods } from './mirror-pods.ts';

const node = { name: 'n1', uid: 'node-uid', deleting: false };
const staticPod = (image: string): DesiredPod =>
  desiredPod(
    'file',
    toStaticPod(
      { metadata: { name: 'web', namespace: 'kube-system' }, spec: { containers: [{ name: 'c', image }] } },
      { nodeName: 'n1', source: 'file', origin: '/m/web.yaml', seen: '2026-01-02T03:04:05Z' },
    ),
  );
const pod = staticPod('one');
const shown = (of: DesiredPod, more: object = {}): Pod => {
  const mirror = mirrorOf(of, node);
  return { ...mirror, metadata: { ...mirror.metadata, uid: 'mirror-uid', ...more } };
};

const ended: Pod = { ...shown(pod), status: { phase: 'Failed' } };
const running: Pod = {
  ...shown(pod),
  status: {
    phase: 'Running',
    containerStatuses: [{ name: 'c', image: 'one', imageID: '', ready: true, restartCount: 0 }],
  },
};

describe('computeMirrorAction', () => {
  const base: MirrorInput = {
    pod,
    mirror: shown(pod),
    hasNotEnded: true,
    isBetweenLives: false,
    node,
    isNameTaken: false,
    sourcesReady: true,
  };
  const cases: readonly [string, Partial<MirrorInput>, { remove?: string; creates: boolean } | undefined][] = [
    ['as it should be', {}, undefined],
    ['none yet', { mirror: undefined }, { creates: true }],
    ['none yet, and the node is not known', { mirror: undefined, node: undefined }, undefined],
    ['none yet, and the node goes', { mirror: undefined, node: { ...node, deleting: true } }, undefined],
    [
      'being deleted',
      { mirror: shown(pod, { deletionTimestamp: '2026-01-02T03:04:05Z' }) },
      { remove: 'mirror-uid', creates: true },
    ],
    ['of an older pod', { mirror: shown(staticPod('old')) }, { remove: 'mirror-uid', creates: true }],
    ['of a life that has ended', { mirror: ended }, { remove: 'mirror-uid', creates: true }],
    ['of a pod that has ended', { mirror: ended, hasNotEnded: false }, undefined],
    [
      'of a life whose end is not reported',
      { mirror: running, isBetweenLives: true },
      { remove: 'mirror-uid', creates: true },
    ],
    ['between two lives, with nothing to show', { isBetweenLives: true }, undefined],
    ['of a life that goes on', { mirror: running }, undefined],
    ['without a pod', { pod: undefined }, { remove: 'mirror-uid', creates: false }],
    ['without a pod, which still ends', { pod: undefined, isNameTaken: true }, undefined],
    ['without a pod, but a source has not spoken', { pod: undefined, sourcesReady: false }, undefined],
    ['neither', { pod: undefined, mirror: undefined }, undefined],
  ];
  for (const [name, input, expected] of cases) {
    test(name, () => {
      const action = computeMirrorAction({ ...base, ...input });
      assert.deepEqual(
        action && { ...(action.remove && { remove: action.remove }), creates: action.create !== undefined },
        expected,
      );
    });
  }
});

test('a mirror is the static pod, owned by the node, without its uid and status', () => {
  const { metadata, spec, status } = mirrorOf(pod, node);
  assert.deepEqual(metadata?.annotations, {
    [configAnnotations.source]: 'file',
    [configAnnotations.seen]: '2026-01-02T03:04:05Z',
    [configAnnotations.hash]: pod.uid,
    [configAnnotations.mirror]: pod.uid,
  });
  assert.deepEqual(metadata?.ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-uid', controller: true },
  ]);
  assert.deepEqual([metadata?.uid, metadata?.name, spec, status], [undefined, 'web-n1', pod.spec, undefined]);
});

test('MirrorPods returns what changed, and knows of which pod a mirror is', () => {
  const mirrors = new MirrorPods();
  const mirror = shown(pod);
  assert.deepEqual(mirrors.set([mirror]), [pod.fullName]);
  assert.deepEqual(mirrors.set([mirror]), []);
  assert.equal(mirrors.of(pod), mirror);
  assert.equal(mirrors.of(staticPod('other')), undefined);
  assert.deepEqual(mirrors.set([]), [pod.fullName]);
});

class World {
  readonly clock = new FakeClock();
  readonly mirrors = new MirrorPods();
  readonly calls: string[] = [];
  pods: readonly DesiredPod[] = [];
  ending = new Set<PodFullName>();
  failure: TubeletError | undefined;
  readonly api: Pick<ApiWriter, 'create' | 'delete'> = {
    create: async (_, namespace, object) => {
      this.#call(`create ${namespace}/${object.metadata?.name}`);
      return object as never;
    },
    delete: async (_, { namespace, name }, options) =>
      this.#call(`delete ${namespace}/${name} ${options?.uid} ${options?.gracePeriodSeconds}`),
  };
  readonly keeper = new MirrorPodReconciler({
    clock: this.clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    api: this.api,
    mirrors: this.mirrors,
    node: () => node,
    sourcesReady: () => true,
    hasNotEnded: () => true,
    isBetweenLives: () => false,
    staticPods: () => this.pods,
    isNameTaken: (name) => this.ending.has(name),
  });

  #call(call: string): void {
    this.calls.push(call);
    if (this.failure !== undefined) throw this.failure;
  }
}

describe('MirrorPodReconciler', () => {
  test('replaces the mirror of an older pod: that very one first', async () => {
    const world = new World();
    world.pods = [pod];
    world.mirrors.set([shown(staticPod('old'))]);
    await world.keeper.start();
    await world.clock.settle();
    assert.deepEqual(world.calls, ['delete kube-system/web-n1 mirror-uid 0', 'create kube-system/web-n1']);
    await world.keeper.stop();
  });

  test('keeps the mirror of a pod that still ends, then removes it', async () => {
    const world = new World();
    world.mirrors.set([shown(pod)]);
    world.ending.add(pod.fullName);
    await world.keeper.start();
    await world.clock.settle();
    assert.deepEqual(world.calls, []);
    world.ending.clear();
    world.keeper.wakeAll();
    await world.clock.settle();
    assert.deepEqual(world.calls, ['delete kube-system/web-n1 mirror-uid 0']);
    await world.keeper.stop();
  });

  test('a mirror that is changed after each creation is created again at intervals only', async () => {
    const world = new World();
    world.pods = [pod];
    await world.keeper.start();
    await world.clock.settle();
    const changed = shown(pod, { annotations: {} });
    for (let at = 0; at < 5; at++) {
      world.mirrors.set([{ ...changed }]);
      world.keeper.wake(pod.fullName);
      await world.clock.advance(1_000);
    }
    assert.deepEqual(world.calls, ['create kube-system/web-n1']);
    await world.clock.advance(5_000);
    assert.deepEqual(world.calls.slice(1), ['delete kube-system/web-n1 mirror-uid 0', 'create kube-system/web-n1']);
    await world.keeper.stop();
  });

  test('one that exists already is no failure; a server that is away is tried again', async () => {
    const world = new World();
    world.pods = [pod];
    world.failure = new TubeletError('unavailable', 'connection refused');
    await world.keeper.start();
    await world.clock.settle();
    assert.equal(world.calls.length, 1);
    world.failure = new TubeletError('alreadyExists', 'pods "web-n1" already exists');
    await world.clock.advance(700);
    assert.equal(world.calls.length, 2);
    await world.clock.advance(60_000);
    assert.equal(world.calls.length, 2);
    await world.keeper.stop();
  });
});

test('mirrors show the last status of their pods, not of other pods nor without containers', () => {
  const mirrors = new MirrorPods();
  const status = { phase: 'Running', containerStatuses: [] };
  mirrors.set([{ ...shown(pod), status }]);
  assert.deepEqual(mirrors.statusesOf([pod]), [[pod.uid, status]]);
  assert.deepEqual(mirrors.statusesOf([staticPod('two')]), []);
  mirrors.set([{ ...shown(pod), status: { phase: 'Pending' } }]);
  assert.deepEqual(mirrors.statusesOf([pod]), []);
});
