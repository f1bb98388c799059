import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import { podUidLabel } from '../../model/labels.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aPod, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import type { Listing } from './diff-listing.ts';
import { listRuntime } from './list-runtime.ts';
import type { ObservableRuntime } from './ports.ts';

const never = new AbortController().signal;
const empty: Listing = new Map();

/** Three pods in a runtime whose answers are too long: as a whole, and for some pods. */
async function world(tooLong: readonly string[] = [], whole = true) {
  const cri = createFakeCri({ clock: new FakeClock() });
  cri.images.add(testImage);
  for (const name of ['a', 'b', 'c']) {
    const pod = aPod({ name, uid: name });
    await runContainer(cri, pod, await runSandbox(cri, pod));
  }
  let calls = 0;
  const refuse = (selector: Readonly<Record<string, string>> | undefined): void => {
    calls++;
    const uid = selector?.[podUidLabel];
    const refused = uid === undefined ? whole : tooLong.includes(uid);
    if (refused) throw new TubeletError('exhausted', 'Received message larger than max');
  };
  const runtime: Pick<ObservableRuntime, 'listPodSandbox' | 'listContainers'> = {
    listPodSandbox: async (request, options) => {
      refuse(request.filter?.labelSelector);
      return cri.listPodSandbox(request, options);
    },
    listContainers: async (request, options) => {
      refuse(request.filter?.labelSelector);
      return cri.listContainers(request, options);
    },
  };
  return { cri, runtime, calls: () => calls };
}

test('a list that fits is asked for once', async () => {
  const { runtime, calls } = await world([], false);
  const { listing, byPod } = await listRuntime(runtime, { listed: empty }, never);
  assert.deepEqual([[...listing.keys()], byPod, calls()], [['a', 'b', 'c'], undefined, 2]);
});

test('of a list that is too long every known pod is asked for alone', async () => {
  const { runtime } = await world();
  const whole = await listRuntime((await world([], false)).runtime, { listed: empty }, never);
  const listed: Listing = new Map([[podUid('a'), { name: 'a', namespace: 'default', items: [] }]]);
  const { listing, byPod } = await listRuntime(runtime, { listed, onDisk: async () => ['b', 'removed', 'c'] }, never);
  const shape = (of: Listing) =>
    Object.fromEntries([...of].map(([uid, { items }]) => [uid, items.map(({ state }) => state)]));
  assert.deepEqual(shape(listing), shape(whole.listing));
  assert.deepEqual(byPod, { refused: [] });
});

test('a pod whose own list is too long stays as it was last seen, and hides no other pod', async () => {
  const { runtime, cri } = await world(['b']);
  const last = { name: 'b', namespace: 'default', items: [{ id: 'old', state: 'running' }] };
  const listed: Listing = new Map([
    [podUid('a'), { name: 'a', namespace: 'default', items: [] }],
    [podUid('b'), last],
  ]);
  await cri.stopContainer({
    containerId: (await cri.listContainers({ filter: undefined })).containers[0]?.id ?? '',
    timeout: 0n,
  });
  const { listing, byPod } = await listRuntime(runtime, { listed }, never);
  assert.equal(listing.get(podUid('b')), last);
  assert.ok(listing.get(podUid('a'))?.items.some(({ state }) => state === 'exited'));
  assert.deepEqual(byPod, { refused: ['b'] });
});

test('a list that is not too long shows pods that the other one hides', async () => {
  const { runtime, cri } = await world([], false);
  const listPodSandbox: ObservableRuntime['listPodSandbox'] = async (request, options) => {
    if (request.filter === undefined) throw new TubeletError('exhausted', 'too long');
    return cri.listPodSandbox(request, options);
  };
  const { listing } = await listRuntime({ ...runtime, listPodSandbox }, { listed: empty }, never);
  assert.deepEqual([...listing.keys()].toSorted(), ['a', 'b', 'c']);
  for (const { items } of listing.values()) assert.deepEqual(items.length, 2);
});

test('with no pod to ask for the refusal stands, and so do other failures', async () => {
  const { runtime } = await world();
  await assert.rejects(listRuntime(runtime, { listed: empty }, never), { kind: 'exhausted' });
  const away = async (): Promise<never> => {
    throw new TubeletError('unavailable', 'away');
  };
  const listed: Listing = new Map([[podUid('a'), { name: 'a', namespace: 'default', items: [] }]]);
  await assert.rejects(listRuntime({ listPodSandbox: away, listContainers: away }, { listed }, never), {
    kind: 'unavailable',
  });
});
