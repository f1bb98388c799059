import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainInitContainersOf } from '../../model/containers.ts';
import { anyPodWorld, orderlyPodWorld, type PodWorld } from '../../testing/pod-worlds.ts';
import { computePodActions } from './compute-actions.ts';
import type { PodActions } from './pod-actions.ts';

function decide({ pod, observed, liveness, startup }: PodWorld): PodActions {
  return computePodActions({
    pod,
    observed,
    probes: { liveness: (id) => liveness[id] ?? 'unknown', startup: (id) => startup[id] ?? 'unknown' },
  });
}

const runs = { numRuns: 1_000 };

test('a decision never throws, names no container twice, and kills only what is there', () => {
  fc.assert(
    fc.property(anyPodWorld, (world) => {
      const { kill, start } = decide(world);
      const started = start.map(({ container }) => container.name);
      assert.equal(new Set(started).size, started.length, `started twice: ${started.join(', ')}`);
      const killed = kill.map(({ id }) => id);
      assert.equal(new Set(killed).size, killed.length, `killed twice: ${killed.join(', ')}`);
      for (const { id, name } of kill) {
        assert.equal(world.observed.containers.find((container) => container.id === id)?.name, name);
      }
    }),
    runs,
  );
});

test('nothing is started, nor a sandbox made, for a pod that is being deleted', () => {
  fc.assert(
    fc.property(anyPodWorld, (world) => {
      const { start, createSandbox } = decide(world);
      if (world.pod.metadata.deletionTimestamp === undefined) return;
      assert.deepEqual(start, []);
      assert.equal(createSandbox, undefined);
    }),
    runs,
  );
});

test('what starts has a sandbox that is ready, or one that is made for it', () => {
  fc.assert(
    fc.property(anyPodWorld, (world) => {
      const { start, sandbox, createSandbox, killPod } = decide(world);
      const used = world.observed.sandboxes.find(({ id }) => id === sandbox);
      if (start.length > 0) assert.equal(createSandbox !== undefined || used?.state === 'ready', true);
      if (createSandbox !== undefined) {
        assert.equal(sandbox, undefined);
        const attempts = world.observed.sandboxes.map(({ attempt }) => attempt);
        assert.equal(createSandbox.attempt > Math.max(-1, ...attempts), true, 'attempts only grow');
        assert.equal(killPod !== undefined || attempts.length === 0, true, 'the old one is stopped first');
      } else if (killPod !== undefined) {
        assert.deepEqual(start, [], 'a pod that is stopped for good starts nothing');
      }
    }),
    runs,
  );
});

test('an instance that runs is replaced only after it was killed', () => {
  fc.assert(
    fc.property(anyPodWorld, (world) => {
      const { start, kill, killPod } = decide(world);
      for (const { previous } of start) {
        if (previous?.state !== 'running' && previous?.state !== 'unknown') continue;
        assert.equal(killPod !== undefined || kill.some(({ id }) => id === previous.id), true, previous.id);
      }
    }),
    runs,
  );
});

test('a regular container starts only when every plain init container has succeeded in this sandbox', () => {
  const count = { heldBack: 0, letGo: 0 };
  fc.assert(
    fc.property(orderlyPodWorld, (world) => {
      const { pod, observed } = world;
      const { start, createSandbox } = decide(world);
      const inits = plainInitContainersOf(pod.spec);
      const [sandbox] = observed.sandboxes;
      const here = observed.containers.filter((container) => container.sandboxId === sandbox?.id);
      const newest = (name: string) => here.find((container) => container.name === name);
      // Once a regular container has begun in this sandbox the pod is initialised, whatever became of init containers.
      const begun = pod.spec.containers.some(({ name }) => ['running', 'created'].includes(newest(name)?.state ?? ''));
      if (inits.length === 0 || (begun && createSandbox === undefined)) return;
      const done = inits.every(({ name }) => {
        const status = newest(name);
        return status?.state === 'exited' && status.exitCode === 0 && status.reason !== 'OOMKilled';
      });
      const startsRegular = start.some(({ kind }) => kind === 'regular');
      if (done && startsRegular) count.letGo++;
      if (done && createSandbox === undefined) return;
      count.heldBack++;
      assert.equal(startsRegular, false);
    }),
    // What is counted must not depend on chance.
    { numRuns: 2_000, seed: 1 },
  );
  assert.equal(count.heldBack > 200 && count.letGo > 0, true, JSON.stringify(count));
});
