import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { silentLog, type Log } from '../../base/log.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { SyncOutcome, Termination } from '../../model/sync-outcome.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { MemoryDecisions } from '../../testing/memory-decisions.ts';
import { aPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { PodLifecycles } from './pod-lifecycles.ts';
import { PodWorkers } from './pod-workers.ts';
import type { PodSyncer } from './ports.ts';

type Call = readonly [operation: string, uid: string, detail?: unknown];

/** A syncer whose operations last as long as the test says. */
class ScriptedSyncer implements PodSyncer {
  readonly calls: Call[] = [];
  readonly clock: FakeClock;
  syncMs = 0;
  terminateMs = 0;
  failures = 0;
  outcome: SyncOutcome = { kind: 'settled' };

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  async syncPod(pod: DesiredPod, signal: AbortSignal): Promise<SyncOutcome> {
    this.calls.push(['sync', pod.uid, pod.metadata.labels?.['v']]);
    if (this.failures-- > 0) throw new Error('cannot');
    await this.clock.sleep(this.syncMs, signal);
    return this.outcome;
  }

  async syncTerminatingPod(pod: DesiredPod, how: Termination, signal: AbortSignal): Promise<void> {
    this.calls.push(['terminate', pod.uid, how.graceSeconds]);
    await this.clock.sleep(this.terminateMs, signal);
  }

  async syncTerminatingRuntimePod(target: { readonly uid: string }, graceSeconds: number): Promise<void> {
    this.calls.push(['terminateOrphan', target.uid, graceSeconds]);
  }

  async syncTerminatedPod(target: { readonly kind: string }): Promise<void> {
    this.calls.push(['release', target.kind]);
  }

  operations(): string[] {
    return this.calls.map(([operation, uid]) => `${operation} ${uid}`);
  }
}

function setUp() {
  const clock = new FakeClock();
  const syncer = new ScriptedSyncer(clock);
  const lifecycles = new PodLifecycles();
  const heartbeats = new Heartbeats();
  const decisions = new MemoryDecisions();
  const workers: PodWorkers = new PodWorkers({
    metrics: new Registry(),
    clock,
    random: seededRandom(1),
    log: silentLog,
    heartbeats,
    syncer,
    decisions,
    lifecycles,
    resyncMs: 60_000,
    onChange: () => {},
    onPodRecreated: (pod) => workers.updatePod(pod),
  });
  void workers.start();
  return { clock, syncer, workers, lifecycles, heartbeats, decisions };
}

describe('PodWorkers', () => {
  test('syncs at once, then at the resync', async () => {
    const { clock, syncer, workers } = setUp();
    workers.updatePod(aPod());
    await clock.advance(0);
    assert.deepEqual(syncer.operations(), ['sync uid-1']);
    await clock.advance(59_000);
    assert.equal(syncer.calls.length, 1);
    await clock.advance(31_000);
    assert.equal(syncer.calls.length, 2);
    await workers.stop();
  });

  test('a pending status is reported by a sync within 15 s, or sooner where one is due', async () => {
    for (const [requeueAfterMs, dueMs] of [
      [40_000, 15_000],
      [4_000, 4_000],
    ] as const) {
      const { clock, syncer, workers } = setUp();
      syncer.outcome = { kind: 'settled', requeueAfterMs, statusPending: true };
      workers.updatePod(aPod());
      await clock.advance(dueMs - 1);
      assert.equal(syncer.calls.length, 1);
      await clock.advance(2);
      assert.equal(syncer.calls.length, 2);
      await workers.stop();
    }
  });

  test('a requeue comes when the sync asks for it', async () => {
    const { clock, syncer, workers } = setUp();
    syncer.outcome = { kind: 'settled', requeueAfterMs: 250 };
    workers.updatePod(aPod());
    await clock.advance(249);
    assert.equal(syncer.calls.length, 1);
    await clock.advance(1);
    assert.equal(syncer.calls.length, 2);
    await workers.stop();
  });

  test('wakes during an operation are one more operation, with the latest spec', async () => {
    const { clock, syncer, workers } = setUp();
    syncer.syncMs = 1_000;
    workers.updatePod(aPod({ metadata: { labels: { v: '1' } } }));
    await clock.advance(10);
    for (const v of ['2', '3', '4']) workers.updatePod(aPod({ metadata: { labels: { v } } }));
    await clock.advance(1_500);
    assert.deepEqual(
      syncer.calls.map(([, , v]) => v),
      ['1', '4'],
    );
    await workers.stop();
  });

  test('a failure is retried after ten seconds and a bit', async () => {
    const { clock, syncer, workers, decisions } = setUp();
    syncer.failures = 1;
    workers.updatePod(aPod());
    await clock.advance(9_999);
    assert.equal(syncer.calls.length, 1);
    const nextTryInMs = decisions.entries[0]?.decision.nextTryInMs ?? 0;
    assert.deepEqual(decisions.take(), ['uid-1 retry FailedSync: cannot']);
    assert.ok(nextTryInMs >= 10_000 && nextTryInMs <= 15_000, String(nextTryInMs));
    await clock.advance(5_001);
    assert.equal(syncer.calls.length, 2);
    await workers.stop();
  });

  test('a removal cancels the running sync and terminates the pod', async () => {
    const { clock, syncer, workers, lifecycles } = setUp();
    syncer.syncMs = 1_000_000;
    const pod = aPod();
    workers.updatePod(pod);
    await clock.advance(5);
    workers.remove(pod.uid);
    await clock.advance(5);
    assert.deepEqual(syncer.operations(), ['sync uid-1', 'terminate uid-1', 'release desired']);
    assert.equal(lifecycles.isFinished(pod.uid), true);
    assert.equal(workers.forget(pod.uid), true);
    assert.equal(lifecycles.knows(pod.uid), false);
    await workers.stop();
  });

  test('a shorter grace restarts the stop under way, a longer one does not', async () => {
    const { clock, syncer, workers, lifecycles } = setUp();
    syncer.terminateMs = 20_000;
    const pod = aPod();
    workers.updatePod(pod);
    await clock.advance(1);
    workers.remove(pod.uid);
    await clock.advance(1_000);
    workers.terminate(pod.uid, { graceSeconds: 300 });
    await clock.advance(1_000);
    workers.terminate(pod.uid, { graceSeconds: 2 });
    await clock.advance(20_000);
    assert.deepEqual(
      syncer.calls.filter(([operation]) => operation === 'terminate').map(([, , grace]) => grace),
      [30, 2],
    );
    assert.equal(lifecycles.isFinished(pod.uid), true);
    await workers.stop();
  });

  test('a changed static pod starts when the old one of its name has finished', async () => {
    const { clock, syncer, workers } = setUp();
    syncer.terminateMs = 3_000;
    const old = aPod({ uid: 'old' });
    const changed = aPod({ uid: 'new' });
    workers.updatePod(old);
    await clock.advance(1);
    workers.remove(old.uid);
    workers.updatePod(changed);
    await clock.advance(2_000);
    assert.deepEqual(syncer.operations(), ['sync old', 'terminate old']);
    await clock.advance(2_000);
    assert.deepEqual(syncer.operations(), ['sync old', 'terminate old', 'release desired', 'sync new']);
    await workers.stop();
  });

  test('a pod that comes back under its uid has a new life after the old one', async () => {
    const { clock, syncer, workers, lifecycles } = setUp();
    syncer.terminateMs = 3_000;
    const pod = aPod();
    workers.updatePod(pod);
    await clock.advance(1);
    workers.remove(pod.uid);
    await clock.advance(1);
    workers.updatePod(pod);
    assert.equal(workers.forget(pod.uid), false);
    await clock.advance(4_000);
    assert.deepEqual(syncer.operations(), ['sync uid-1', 'terminate uid-1', 'release desired']);
    assert.equal(workers.forget(pod.uid), true);
    await clock.advance(0);
    assert.deepEqual(syncer.operations().slice(3), ['sync uid-1']);
    assert.equal(lifecycles.stateOf(pod.uid)?.phase, 'syncing');
    await workers.stop();
  });

  test('a pod that ended is stopped once and remembered', async () => {
    const { clock, syncer, workers } = setUp();
    syncer.outcome = { kind: 'ended' };
    const pod = aPod();
    workers.updatePod(pod);
    await clock.advance(1);
    workers.wake(pod.uid);
    await clock.advance(120_000);
    assert.deepEqual(syncer.operations(), ['sync uid-1', 'terminate uid-1', 'release desired']);
    assert.equal(workers.forget(pod.uid), false);
    await workers.stop();
  });

  test('an orphan is stopped and then forgotten', async () => {
    const { clock, syncer, workers } = setUp();
    const { uid } = aPod();
    workers.adoptOrphan({ uid, name: 'web', namespace: 'default' });
    await clock.advance(1);
    assert.deepEqual(syncer.calls, [
      ['terminateOrphan', 'uid-1', 1],
      ['release', 'orphan'],
    ]);
    assert.equal(workers.forget(uid), true);
    await workers.stop();
  });

  test('stopping cancels operations and leaves pods as they are', async () => {
    const { clock, syncer, workers } = setUp();
    syncer.syncMs = 1_000_000;
    workers.updatePod(aPod());
    await clock.advance(1);
    await workers.stop();
    assert.deepEqual(syncer.operations(), ['sync uid-1']);
    assert.equal(clock.pending(), 0);
  });

  test('one pod that hangs holds up no other', async () => {
    const { clock, syncer, workers, lifecycles } = setUp();
    syncer.syncMs = 1_000_000;
    workers.updatePod(aPod({ uid: 'a', name: 'a' }));
    await clock.advance(1);
    syncer.syncMs = 0;
    workers.updatePod(aPod({ uid: 'b', name: 'b' }));
    await clock.advance(1);
    workers.remove(aPod({ uid: 'b', name: 'b' }).uid);
    await clock.advance(1);
    assert.equal(lifecycles.isFinished(aPod({ uid: 'b' }).uid), true);
    await workers.stop();
  });

  test('a worker that fails beside its operation is counted, names its pod, and tries again after a back-off', async () => {
    const [clock, log, metrics] = [new FakeClock(), new MemoryLog(), new Registry()];
    const syncer = new ScriptedSyncer(clock);
    syncer.failures = 1;
    let full = true;
    const failing: Log = {
      ...silentLog,
      with: (fields) => log.with(fields),
      error: () => {
        if (full) throw new Error('disk full');
      },
    };
    const heartbeats = new Heartbeats();
    const common = { clock, random: seededRandom(1), log: failing, heartbeats, metrics };
    const workers = new PodWorkers({
      ...common,
      syncer,
      decisions: new MemoryDecisions(),
      lifecycles: new PodLifecycles(),
      resyncMs: 60_000,
      onChange: () => {},
      onPodRecreated: () => {},
    });
    await workers.start();
    const pod = aPod();
    workers.updatePod(pod);
    await clock.advance(10);
    full = false;
    assert.deepEqual(syncer.operations(), ['sync uid-1']);
    assert.match(metrics.render(), /^tubelet_pod_worker_failures_total 1$/m);
    assert.deepEqual(
      log.entries.map(({ message, fields: { pod, podUID, loop } }) => ({ message, pod, podUID, loop })),
      [
        {
          message: 'Loop failed and will go on',
          pod: { namespace: pod.namespace, name: pod.name },
          podUID: 'uid-1',
          loop: `pod-worker ${pod.namespace}/${pod.name}`,
        },
      ],
    );
    await clock.advance(1_300);
    assert.deepEqual(syncer.operations(), ['sync uid-1', 'sync uid-1'], 'it goes on by itself');
    workers.remove(pod.uid);
    await clock.advance(10);
    assert.equal(workers.forget(pod.uid), true);
    await clock.advance(0);
    assert.deepEqual(
      heartbeats.all().map(({ name }) => name),
      ['pod-resync'],
    );
    await workers.stop();
  });

  test('an operation of hours is no hung loop', async () => {
    const { clock, syncer, workers, heartbeats } = setUp();
    syncer.syncMs = 7_200_000;
    workers.updatePod(aPod());
    await clock.advance(3_600_000);
    const worker = heartbeats.all().find(({ name }) => name.startsWith('pod-worker'));
    assert.deepEqual([worker?.stage, worker?.since], ['round', 0]);
    assert.deepEqual(heartbeats.hung(clock.monotonic()), []);
    await workers.stop();
  });
});
