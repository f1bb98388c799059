import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../../base/ids.ts';
import { aPod } from '../../testing/pods.ts';
import { reduceWorker, type WorkerEvent, type WorkerState } from './state.ts';

const order = ['waiting', 'syncing', 'terminating', 'terminated', 'finished'];
const seconds = fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined });
const pods = seconds.chain((grace) =>
  fc.boolean().map((deleting) =>
    aPod({
      source: 'api',
      metadata: {
        ...(grace !== undefined && { deletionGracePeriodSeconds: grace }),
        ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      },
    }),
  ),
);
const events: fc.Arbitrary<WorkerEvent> = fc.oneof(
  fc.record({ type: fc.constant('configured' as const), pod: pods, mustWait: fc.boolean() }),
  fc.constant({ type: 'orphaned' as const, uid: podUid('uid-1'), name: 'web', namespace: 'default' }),
  seconds.map((graceSeconds): WorkerEvent => ({ type: 'killed', ...(graceSeconds !== undefined && { graceSeconds }) })),
  ...(['turn', 'removed', 'ended', 'stopped', 'cleaned'] as const).map((type) => fc.constant<WorkerEvent>({ type })),
);

test('a life only goes forward, and grace only shrinks', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 30 }), (sequence) => {
      let state: WorkerState | undefined;
      for (const event of sequence) {
        const next = reduceWorker(state, event);
        if (state !== undefined) {
          assert.ok(next !== undefined, 'a worker is never lost by an event');
          assert.ok(order.indexOf(next.phase) >= order.indexOf(state.phase), `${state.phase} → ${next.phase}`);
        }
        if (state?.phase === 'terminating' && next?.phase === 'terminating') {
          assert.ok(next.graceSeconds <= state.graceSeconds);
          assert.ok(next.graceSeconds >= 1);
        }
        state = next;
      }
    }),
    { numRuns: 2000 },
  );
});

test('a removal or a kill is never lost', () => {
  fc.assert(
    fc.property(
      fc.array(events, { maxLength: 20 }),
      fc.constantFrom('removed' as const, 'killed' as const),
      (before, type) => {
        const state = before.reduce<WorkerState | undefined>((at, event) => reduceWorker(at, event), undefined);
        const next = reduceWorker(state, { type });
        if (state !== undefined) assert.ok(next?.phase !== 'waiting' && next?.phase !== 'syncing');
      },
    ),
    { numRuns: 2000 },
  );
});
