import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { reduceShutdown, stillUp, type ShutdownEvent } from './state.ts';

const by = fc.constantFrom('logind', 'request');
const event: fc.Arbitrary<ShutdownEvent> = fc.oneof(
  fc.record({ type: fc.constantFrom('wanted', 'calledOff'), by }),
  fc.constant({ type: 'podsEnded' } as const),
);

test('it begins and is called off in turns, and shuts down exactly while it is requested', () => {
  fc.assert(
    fc.property(fc.array(event), (events) => {
      let state = stillUp;
      let isUnderWay = false;
      const wanted = new Set<string>();
      for (const one of events) {
        const step = reduceShutdown(state, one);
        state = step.state;
        if (one.type === 'wanted') wanted.add(one.by);
        if (one.type === 'calledOff') wanted.delete(one.by);
        if (step.effect === 'begin') assert.equal(isUnderWay, false);
        if (step.effect === 'callOff') assert.equal(isUnderWay, true);
        if (step.effect === 'begin') isUnderWay = true;
        if (step.effect === 'callOff') isUnderWay = false;
        assert.equal(isUnderWay, wanted.size > 0);
        assert.deepEqual(new Set(state.wantedBy), wanted);
        assert.equal(state.phase !== 'up', isUnderWay);
        if (step.effect === 'letGo') assert.ok(state.phase === 'ended' && wanted.has('logind'));
        assert.notEqual(step.reason, '');
      }
    }),
  );
});
