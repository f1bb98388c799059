import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../src/base/heartbeats.ts';
import type { PodUid } from '../../src/base/ids.ts';
import { LocalStorageEviction } from '../../src/eviction/index.ts';
import { noDecisions } from '../../src/testing/no-decisions.ts';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import type { PodStorageUsage } from '../../src/model/usage.ts';
import { Registry } from '../../src/telemetry/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { AgentWorld } from '../support/agent-world.ts';

const scratch = '/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/scratch';

/** A pod of the API server with a folder that it may fill up to a limit. */
const aScratchPod = (sizeLimit: string, more: Parameters<typeof aPod>[0] = {}): DesiredPod =>
  aPod({
    source: 'api',
    spec: {
      volumes: [{ name: 'scratch', emptyDir: { sizeLimit } }],
      containers: [aContainer('main', { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] })],
    },
    ...more,
  });

interface Node {
  readonly it: AgentWorld;
  readonly registry: Registry;
  /** Pods that were measured. */
  readonly measured: ReadonlySet<string>;
  /** What the container writes. */
  fill(bytes: number): void;
  stop(): Promise<void>;
}

/** The agent, and who watches over limits; volumes are as large as the files in them. */
async function start(it = new AgentWorld({ source: 'api' }), isOn = true): Promise<Node> {
  const registry = new Registry();
  const measured = new Set<string>();
  const sizeOf = (path: string): number =>
    [...it.files.entries].reduce(
      (sum, [at, { content = '' }]) => (at.startsWith(`${path}/`) ? sum + content.length : sum),
      0,
    );
  const usageOf = (uid: PodUid): PodStorageUsage => {
    measured.add(uid);
    const volumes = [...it.machine.volumes.volumes.mounted(uid)].map(
      ([name, { hostPath }]) => [name, sizeOf(hostPath)] as const,
    );
    return { volumes: new Map(volumes), containers: new Map() };
  };
  const eviction = new LocalStorageEviction({
    heartbeats: new Heartbeats(),
    decisions: noDecisions,
    clock: it.clock,
    random: seededRandom(7),
    log: it.log,
    pods: { activePods: () => it.machine.activePods.activePods() },
    workers: { terminate: (uid, how) => it.machine.views.terminate(uid, how) },
    meter: { storage: async (scopes) => new Map([...scopes.keys()].map((uid) => [uid, usageOf(uid)])) },
    events: { record: ({ name }, event) => void it.events.push({ ...event, pod: name }) },
    metrics: registry,
  });
  await it.start();
  if (isOn) await eviction.start();
  return {
    it,
    registry,
    measured,
    fill: (bytes) => it.files.append(`${scratch}/data`, 'x'.repeat(bytes)),
    stop: async () => {
      if (isOn) await eviction.stop();
      await it.stop();
      assert.equal(it.clock.pending(), 0);
    },
  };
}

describe('a pod that fills its emptyDir', () => {
  test('beyond the limit is evicted: it stops, fails, says why, does not come back, and its files go', async () => {
    const node = await start();
    const { it } = node;
    await it.manifests(aScratchPod('1Ki'));
    node.fill(1_024);
    await it.clock.advance(60_000);
    assert.equal(it.phase(), 'Running', 'as much as it may have');
    node.fill(1);
    await it.clock.advance(12_000);
    const message = 'Usage of EmptyDir volume "scratch" exceeds the limit "1Ki". ';
    const { phase, reason, message: told, conditions } = it.status('uid-1') ?? {};
    assert.deepEqual({ phase, reason, told }, { phase: 'Failed', reason: 'Evicted', told: message });
    assert.equal(
      conditions?.some(({ type }) => type === 'DisruptionTarget'),
      false,
    );
    const events = it.events.filter((event) => event.reason === 'Evicted');
    assert.deepEqual(events, [{ type: 'Warning', reason: 'Evicted', message, pod: 'web' }]);
    assert.match(node.registry.render(), /^kubelet_evictions\{eviction_signal="emptydirfs.limit"\} 1$/m);
    await it.clock.advance(120_000);
    assert.deepEqual(it.containers(), ['main#0 exited']);
    assert.equal(it.files.has(scratch), false, 'what filled the disk is gone, though the pod is still there');
    assert.equal(it.events.filter((event) => event.reason === 'Evicted').length, 1);
    await node.stop();
  });

  test('stays evicted across a restart of the agent', async () => {
    const node = await start();
    const { it } = node;
    await it.manifests(aScratchPod('1Ki'));
    node.fill(5_000);
    await it.clock.advance(12_000);
    assert.equal(it.status('uid-1')?.reason, 'Evicted');
    await node.stop();
    const next = await start(it);
    await it.clock.advance(60_000);
    assert.equal(it.status('uid-1')?.reason, 'Evicted');
    assert.deepEqual(it.containers(), ['main#0 exited']);
    await next.stop();
  });

  test('goes on where nobody watches over local storage', async () => {
    const node = await start(undefined, false);
    await node.it.manifests(aScratchPod('1Ki'));
    node.fill(5_000);
    await node.it.clock.advance(120_000);
    assert.equal(node.it.phase(), 'Running');
    await node.stop();
  });

  test('goes on when it is critical', async () => {
    const node = await start();
    const pod = aScratchPod('1Ki');
    await node.it.manifests({ ...pod, spec: { ...pod.spec, priority: 2_000_000_000 } });
    node.fill(5_000);
    await node.it.clock.advance(120_000);
    assert.equal(node.it.phase(), 'Running');
    await node.stop();
  });
});

test('pods without limits are not measured', async () => {
  const it = new AgentWorld({ source: 'api' });
  const node = await start(it);
  await it.manifests(aPod({ source: 'api', uid: 'free', name: 'free' }), aScratchPod('1Gi'));
  await it.clock.advance(120_000);
  assert.deepEqual(node.measured, new Set(['uid-1']));
  await node.stop();
});
