import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeCri, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod, runSandbox } from '../../testing/pods.ts';
import { ContainerEventResponse } from '../../gen/cri/api.ts';
import { followEvents } from './follow-events.ts';
import type { ObservableRuntime } from './ports.ts';

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly log: MemoryLog;
  readonly hints: string[];
  readonly stop: AbortController;
  /** How the call ended, once it has. */
  readonly ended: () => string;
}

function follow(prepare: (cri: FakeCri) => Partial<ObservableRuntime> | void = () => {}): World {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const log = new MemoryLog();
  const stop = new AbortController();
  const hints: string[] = [];
  const runtime = { ...cri, ...prepare(cri) };
  let ended = 'follows';
  followEvents({ runtime, log, clock, signal: stop.signal, hint: (uid) => void hints.push(uid) }).then(
    () => (ended = 'returned'),
    (error: Error) => (ended = `failed: ${error.message}`),
  );
  return { clock, cri, log, hints, stop, ended: () => ended };
}

test('each event hints at its pod', async () => {
  const { clock, cri, hints, ended } = follow();
  await clock.settle();
  await runSandbox(cri, aPod());
  await runSandbox(cri, aPod({ uid: 'uid-2', name: 'other' }));
  await clock.settle();
  assert.deepEqual(hints, ['uid-1', 'uid-1', 'uid-2', 'uid-2']);
  assert.equal(ended(), 'follows');
  assert.equal(clock.pending(), 0, 'an open stream costs no timer');
});

test('events of what no kubelet made, or without a sandbox, hint at nobody', async () => {
  const { clock, hints } = follow(() => ({
    async *containerEvents() {
      yield ContainerEventResponse.fromPartial({ containerId: 'c9' });
      yield ContainerEventResponse.fromPartial({ podSandboxStatus: { labels: { 'com.example/a': 'b' } } });
    },
  }));
  await clock.settle();
  assert.deepEqual(hints, []);
});

test('a stream that ends is opened again after a second, not at once', async () => {
  const { clock, ended } = follow(() => ({ async *containerEvents() {} }));
  await clock.advance(999);
  assert.equal(ended(), 'follows');
  await clock.advance(1);
  assert.equal(ended(), 'returned');
});

test('a runtime without events is asked again after ten minutes', async () => {
  const { clock, log, ended } = follow((cri) => {
    cri.events.supported = false;
  });
  await clock.advance(10 * 60_000 - 1);
  assert.equal(ended(), 'follows');
  assert.deepEqual(log.messages(), ['The runtime has no container events, relying on relists']);
  await clock.advance(1);
  assert.equal(ended(), 'returned');
});

test('a stream that breaks soon is a failure, for the loop to back off', async () => {
  const { clock, cri, ended } = follow();
  await clock.advance(59_000);
  cri.events.breakStreams();
  await clock.settle();
  assert.match(ended(), /^failed: .*broken/);
});

test('a stream that breaks after it lasted is none', async () => {
  const { clock, cri, log, ended } = follow();
  await clock.advance(60_000);
  cri.events.breakStreams();
  await clock.advance(1_000);
  assert.equal(ended(), 'returned');
  assert.deepEqual(log.messages('error'), []);
});

test('an abort ends it at once, and nobody listens any more', async () => {
  const { clock, cri, stop, ended } = follow();
  await clock.settle();
  assert.equal(cri.events.listeners(), 1);
  stop.abort();
  await clock.settle();
  assert.notEqual(ended(), 'follows');
  assert.equal(cri.events.listeners(), 0);
  assert.equal(clock.pending(), 0);
});
