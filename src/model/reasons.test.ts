import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenNames, loadGolden } from '../testing/golden.ts';
import * as events from './event-reasons.ts';
import * as reasons from './reasons.ts';

const values = (...groups: readonly Readonly<Record<string, string>>[]): ReadonlySet<string> =>
  new Set(groups.flatMap((group) => Object.values(group)));

test('every recorded event has its word here', () => {
  const known = values(
    events.containerEvents,
    events.podEvents,
    events.imageEvents,
    events.volumeEvents,
    events.nodeEvents,
    reasons.podReasons,
  );
  const recorded = goldenNames().flatMap((name) => loadGolden(name).events.map(({ reason }) => reason));
  assert.ok(recorded.length > 50);
  const missing = recorded.filter((reason) => !known.has(reason) && !reason.startsWith(reasons.podReasons.outOfPrefix));
  assert.deepEqual(missing, []);
});

test('every recorded condition and waiting reason has its word here', () => {
  const statuses = goldenNames().flatMap((name) => loadGolden(name).statuses);
  const conditions = statuses.flatMap((status) => status.conditions ?? []);
  const types = values(reasons.podConditions);
  assert.deepEqual(
    conditions.filter(({ type }) => !types.has(type)),
    [],
  );
  const why = values(reasons.conditionReasons);
  assert.deepEqual(
    conditions.filter(({ reason }) => reason !== undefined && !why.has(reason)),
    [],
  );
  const waiting = statuses
    .flatMap((status) => [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
    .flatMap(({ state }) => (state?.waiting?.reason === undefined ? [] : [state.waiting.reason]));
  const starts = values(reasons.startReasons);
  assert.deepEqual(
    waiting.filter((reason) => !starts.has(reason)),
    [],
  );
});

test('whose conditions are whose', () => {
  assert.equal(reasons.isOwnCondition('Ready'), true);
  assert.equal(reasons.isOwnCondition('DisruptionTarget'), false);
  assert.equal(reasons.isOwnCondition('example.com/gate'), false);
  assert.deepEqual(['Pending', 'Succeeded', 'Failed', undefined].map(reasons.isTerminalPhase), [
    false,
    true,
    true,
    false,
  ]);
});
