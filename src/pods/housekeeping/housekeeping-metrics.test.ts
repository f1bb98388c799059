import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { podUid } from '../../base/ids.ts';
import { noDecisions } from '../../testing/no-decisions.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { observedPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { Housekeeping } from './housekeeping.ts';

test('removed directories of unknown pods are counted by round, and those that could not be', async () => {
  const registry = new Registry();
  const onDisk = new Set(['a', 'stuck']);
  const housekeeping = new Housekeeping({
    heartbeats: new Heartbeats(),
    decisions: noDecisions,
    clock: new FakeClock(),
    random: seededRandom(1),
    log: new MemoryLog(),
    sourcesReady: () => true,
    isDesired: () => false,
    lifecycles: { uids: () => [], knows: () => false, canBeRemoved: () => false, continuesFormerLife: () => false },
    remembered: () => [],
    workers: { adoptOrphan: () => {}, forget: () => false },
    observed: { listed: () => new Map(), inspect: async (uid) => observedPod([], [], uid) },
    remover: { remove: async () => {} },
    directories: {
      uids: async () => new Set([...onDisk].map(podUid)),
      remove: async (uid) => {
        if (uid === 'stuck') throw new Error('busy');
        onDisk.delete(uid);
      },
    },
    podRemoval: { podRemoved: () => {} },
    metrics: registry,
  });
  const swept = (): readonly (string | undefined)[] =>
    ['', '_errors'].map(
      (end) => new RegExp(`^kubelet_orphan_pod_cleaned_volumes${end} (.*)$`, 'm').exec(registry.render())?.[1],
    );
  const stuck = (): string | undefined => /^tubelet_stuck_pods (.*)$/m.exec(registry.render())?.[1];
  const { signal } = new AbortController();
  assert.equal(stuck(), '0');
  await housekeeping.runOnce(signal);
  assert.deepEqual(swept(), ['0', '0']);
  await housekeeping.runOnce(signal);
  assert.deepEqual(swept(), ['1', '1']);
  await housekeeping.runOnce(signal);
  assert.deepEqual(swept(), ['0', '1']);
  assert.equal(stuck(), '1');
});
