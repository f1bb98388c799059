import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { ClusterWorld } from '../support/cluster-world.ts';

/** A pod with a folder that it may fill up to a limit. */
const scratchSpec = (sizeLimit: string): Partial<PodSpec> => ({
  volumes: [{ name: 'scratch', emptyDir: { sizeLimit } }],
  containers: [aContainer('main', { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] })],
});

const scratchOf = (uid: string): string => `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~empty-dir/scratch`;

/** What the container writes: its volume is as large as that. */
function fill({ machine }: ClusterWorld, uid: string, bytes: number): void {
  machine.usage.trees.set(scratchOf(uid), { bytes, inodes: 1 });
}

/** The agent of a node on which a pod runs. */
async function started(spec: Partial<PodSpec>, it = new ClusterWorld()): Promise<{ it: ClusterWorld; uid: string }> {
  await it.start();
  const uid = it.bind('web', spec);
  await it.clock.advance(5_000);
  return { it, uid };
}

async function stopped(it: ClusterWorld): Promise<void> {
  await it.stop();
  assert.equal(it.clock.pending(), 0);
}

const evictions = (it: ClusterWorld): readonly string[] => it.events().filter((event) => event.includes(' Evicted '));

describe('a pod that fills its emptyDir', () => {
  test('beyond the limit is evicted: it stops, fails, says why, does not come back, and its files go', async () => {
    const { it, uid } = await started(scratchSpec('1Ki'));
    fill(it, uid, 1_024);
    await it.clock.advance(60_000);
    assert.equal(it.phase('web'), 'Running', 'as much as it may have');
    fill(it, uid, 1_025);
    // It looks every ten seconds at what was measured within the last ten.
    await it.clock.advance(22_000);
    const expected = 'Usage of EmptyDir volume "scratch" exceeds the limit "1Ki". ';
    const { phase, reason, message, conditions }: NonNullable<Pod['status']> = it.pod('web')?.status ?? {};
    assert.deepEqual({ phase, reason, message }, { phase: 'Failed', reason: 'Evicted', message: expected });
    assert.equal(
      conditions?.some(({ type }) => type === 'DisruptionTarget'),
      false,
    );
    assert.deepEqual(evictions(it), ['web Evicted 1']);
    assert.ok(it.messages('web').includes(expected));
    assert.match(it.metrics, /^kubelet_evictions\{eviction_signal="emptydirfs.limit"\} 1$/m);
    await it.clock.advance(120_000);
    assert.deepEqual(it.containersOf(uid), ['main#0 exited']);
    assert.equal(it.machine.files.has(scratchOf(uid)), false, 'what filled the disk is gone, though the pod is there');
    assert.deepEqual(evictions(it), ['web Evicted 1']);
    await stopped(it);
  });

  test('stays evicted across a restart of the agent', async () => {
    const { it, uid } = await started(scratchSpec('1Ki'));
    fill(it, uid, 5_000);
    await it.clock.advance(22_000);
    assert.equal(it.pod('web')?.status?.reason, 'Evicted');
    await stopped(it);
    await it.start();
    await it.clock.advance(60_000);
    assert.equal(it.pod('web')?.status?.reason, 'Evicted');
    assert.deepEqual(it.containersOf(uid), ['main#0 exited']);
    await stopped(it);
  });

  test('goes on where nobody watches over local storage', async () => {
    const unwatched = new ClusterWorld({ config: { localStorageCapacityIsolation: false } });
    const { it, uid } = await started(scratchSpec('1Ki'), unwatched);
    fill(it, uid, 5_000);
    await it.clock.advance(120_000);
    assert.equal(it.phase('web'), 'Running');
    await stopped(it);
  });

  test('goes on when it is critical', async () => {
    const { it, uid } = await started({ ...scratchSpec('1Ki'), priority: 2_000_000_000 });
    fill(it, uid, 5_000);
    await it.clock.advance(120_000);
    assert.equal(it.phase('web'), 'Running');
    await stopped(it);
  });
});

test('pods without limits are not measured', async () => {
  const { it, uid } = await started(scratchSpec('1Gi'));
  const free = it.bind('free', { ...scratchSpec('1Gi'), volumes: [{ name: 'scratch', emptyDir: {} }] });
  await it.clock.advance(120_000);
  assert.equal(it.phase('free'), 'Running');
  const measured = (of: string): number => it.machine.usage.count(`tree ${scratchOf(of)}`);
  assert.ok(measured(uid) > 5, `measured ${measured(uid)} times in two minutes`);
  assert.equal(measured(free), 0);
  await stopped(it);
});
