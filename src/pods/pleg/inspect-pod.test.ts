import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FakeCri } from '../../testing/fake-cri/index.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aPod, createContainer, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import { diffListing, listedAs } from './diff-listing.ts';
import { inspectPod } from './inspect-pod.ts';
import { toListing } from './to-listing.ts';

function setUp(): { clock: FakeClock; cri: FakeCri } {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  return { clock, cri };
}

test('everything of the pod and nothing of others, newest first', async () => {
  const { clock, cri } = setUp();
  const pod = aPod();
  const other = aPod({ uid: 'uid-2', name: 'other' });
  await runContainer(cri, other, await runSandbox(cri, other));
  const s0 = await runSandbox(cri, pod);
  const first = await runContainer(cri, pod, s0);
  cri.killContainer(first, { code: 3 });
  await clock.advance(1_000);
  const second = await createContainer(cri, pod, s0, 'main', 1);
  cri.killSandbox(s0);
  const s1 = await runSandbox(cri, pod, 1);

  const seen = await inspectPod(cri, pod.uid, 42);
  assert.deepEqual([seen.uid, seen.name, seen.namespace, seen.observedAt], ['uid-1', 'web', 'default', 42]);
  assert.deepEqual(
    seen.sandboxes.map(({ id, state, attempt }) => [id, state, attempt]),
    [
      [s1, 'ready', 1],
      [s0, 'notReady', 0],
    ],
  );
  assert.deepEqual(
    seen.containers.map(({ id, state, attempt, sandboxId }) => [id, state, attempt, sandboxId]),
    [
      [second, 'created', 1, s0],
      [first, 'exited', 0, s0],
    ],
  );
});

test('within one instant the attempt decides', async () => {
  const { cri } = setUp();
  const pod = aPod();
  const s0 = await runSandbox(cri, pod);
  const ids = [await createContainer(cri, pod, s0, 'main', 0), await createContainer(cri, pod, s0, 'main', 1)];
  const { containers } = await inspectPod(cri, pod.uid, 1);
  assert.deepEqual(
    containers.map(({ id }) => id),
    ids.toReversed(),
  );
});

test('what vanishes between the listing and the status call is left out', async () => {
  const { cri } = setUp();
  const pod = aPod();
  const s0 = await runSandbox(cri, pod);
  await runContainer(cri, pod, s0);
  cri.faults.fail('containerStatus', 'notFound', { times: 1 });
  assert.deepEqual((await inspectPod(cri, pod.uid, 1)).containers, []);
  cri.faults.fail('podSandboxStatus', 'notFound', { times: 1 });
  assert.deepEqual((await inspectPod(cri, pod.uid, 1)).sandboxes, []);
});

test('any other failure makes the inspection fail', async () => {
  const { cri } = setUp();
  const pod = aPod();
  await runContainer(cri, pod, await runSandbox(cri, pod));
  for (const verb of ['listPodSandbox', 'listContainers', 'podSandboxStatus', 'containerStatus'] as const) {
    cri.faults.fail(verb, 'unavailable', { times: 1, message: `no ${verb}` });
    await assert.rejects(inspectPod(cri, pod.uid, 1), new RegExp(`no ${verb}`));
  }
});

test('an inspection and a relist name and list a pod alike, with or without a sandbox', async () => {
  const { cri } = setUp();
  const pod = aPod();
  const s0 = await runSandbox(cri, pod);
  await runContainer(cri, pod, s0);
  const agree = async (): Promise<void> => {
    const { items } = await cri.listPodSandbox({ filter: undefined });
    const { containers } = await cri.listContainers({ filter: undefined });
    const listing = toListing(items, containers);
    const listed = listedAs(await inspectPod(cri, pod.uid, 1));
    assert.deepEqual(diffListing(listing, new Map([[pod.uid, listed]])), []);
    const { name, namespace } = listed;
    assert.deepEqual({ name, namespace }, { name: 'web', namespace: 'default' });
  };
  await agree();
  cri.state.sandboxes.delete(s0);
  await agree();
});
