import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reduceShutdown, stillUp, type ShutdownEffect, type ShutdownEvent, type ShutdownState } from './state.ts';

type Short = readonly [phase: ShutdownState['phase'], ...wantedBy: ShutdownState['wantedBy']];
const wanted = (by: 'logind' | 'request'): ShutdownEvent => ({ type: 'wanted', by });
const calledOff = (by: 'logind' | 'request'): ShutdownEvent => ({ type: 'calledOff', by });
const podsEnded: ShutdownEvent = { type: 'podsEnded' };

const table: readonly (readonly [
  from: Short,
  event: ShutdownEvent,
  to: Short,
  effect: ShutdownEffect,
  reason: string,
])[] = [
  [['up'], wanted('logind'), ['ending', 'logind'], 'begin', 'wanted by logind'],
  [['up'], calledOff('logind'), ['up'], 'none', 'not wanted by logind'],
  [['up'], podsEnded, ['up'], 'none', 'the shutdown was called off meanwhile'],
  [['ending', 'logind'], wanted('logind'), ['ending', 'logind'], 'none', 'pods are being ended already'],
  [['ending', 'request'], wanted('logind'), ['ending', 'request', 'logind'], 'none', 'pods are being ended already'],
  [['ending', 'logind'], podsEnded, ['ended', 'logind'], 'letGo', 'all groups have had their time'],
  [['ending', 'request'], podsEnded, ['ended', 'request'], 'none', 'all groups have had their time'],
  [['ending', 'logind'], calledOff('logind'), ['up'], 'callOff', 'called off by logind'],
  [['ending', 'logind', 'request'], calledOff('logind'), ['ending', 'request'], 'none', 'still wanted by request'],
  [['ended', 'request'], wanted('logind'), ['ended', 'request', 'logind'], 'letGo', 'all pods have ended already'],
  [['ended', 'logind'], calledOff('logind'), ['up'], 'callOff', 'called off by logind'],
  [['ended', 'logind'], calledOff('request'), ['ended', 'logind'], 'none', 'not wanted by request'],
  [['ended', 'logind'], podsEnded, ['ended', 'logind'], 'none', 'the shutdown was called off meanwhile'],
];

for (const [[phase, ...by], event, [next, ...nextBy], effect, reason] of table) {
  test(`${[phase, ...by].join(' by ')}, ${JSON.stringify(event)}: ${effect}`, () => {
    const step = reduceShutdown({ phase, wantedBy: by }, event);
    assert.deepEqual(step, { state: { phase: next, wantedBy: nextBy }, effect, reason });
  });
}

test('at the beginning the machine is up', () => assert.deepEqual(stillUp, { phase: 'up', wantedBy: [] }));
