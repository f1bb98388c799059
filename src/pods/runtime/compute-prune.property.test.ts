import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyPodWorld } from '../../testing/pod-worlds.ts';
import { computePrune } from './compute-prune.ts';

test('nothing alive is pruned, nor the newest of anything', () => {
  fc.assert(
    fc.property(anyPodWorld, ({ observed }) => {
      const prune = computePrune(observed);
      for (const id of prune.containers) {
        const container = observed.containers.find((candidate) => candidate.id === id);
        assert.equal(container?.state === 'exited' || container?.state === 'created', true);
        assert.notEqual(observed.containers.find(({ name }) => name === container?.name)?.id, id, 'the newest');
      }
      for (const id of prune.sandboxes) {
        assert.equal(observed.sandboxes.find((sandbox) => sandbox.id === id)?.state, 'notReady');
        assert.notEqual(observed.sandboxes[0]?.id, id, 'the newest');
        const inside = observed.containers.filter((container) => container.sandboxId === id);
        assert.equal(
          inside.every((container) => prune.containers.includes(container.id)),
          true,
        );
      }
    }),
  );
});
