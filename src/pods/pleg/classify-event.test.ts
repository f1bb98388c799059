import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { hasReached, classifyEvent, type EventClass } from './classify-event.ts';
import type { RuntimeEvent } from './ports.ts';

const uid = podUid('uid-1');
const item = (state: string) => ({ uid, state });
const known: EventClass = { type: 'known' };
const news: EventClass = { type: 'news', uid };
const unknown: EventClass = { type: 'unknown', id: 'c1' };
const event = (more: Partial<RuntimeEvent> = {}): RuntimeEvent => ({ containerId: 'c1', ...more });

const cases: Readonly<Record<string, readonly [RuntimeEvent, string | undefined, EventClass]>> = {
  'an exit of what runs': [event({ state: 'exited' }), 'running', news],
  'an exit of what was only created': [event({ state: 'exited' }), 'created', news],
  'an exit that is known': [event({ state: 'exited' }), 'exited', known],
  'a start that is known': [event({ state: 'running' }), 'running', known],
  'a start of what has ended since': [event({ state: 'running' }), 'exited', known],
  'a start of what was created': [event({ state: 'running' }), 'created', news],
  'the creation of what is listed': [event({ state: 'created' }), 'unknown', known],
  'an exit of what the runtime lost track of': [event({ state: 'exited' }), 'unknown', news],
  'the removal of what is listed': [event({ state: 'removed' }), 'exited', news],
  'the removal of what is not': [event({ state: 'removed' }), undefined, known],
  'the end of a sandbox': [event({ state: 'exited' }), 'sandbox ready', news],
  'the end of a sandbox that is known': [event({ state: 'exited' }), 'sandbox notReady', known],
  'the start of a sandbox that is known': [event({ state: 'running' }), 'sandbox ready', known],
  'something without a state': [event(), 'exited', news],
  'an exit of an unknown container': [event({ state: 'exited' }), undefined, unknown],
  'something of an unknown container': [event(), undefined, unknown],
  'an exit of what is not listed yet, with its pod': [event({ state: 'exited', uid }), undefined, news],
  'a creation that CRI reports': [event({ state: 'created', uid }), undefined, news],
  'a creation that CRI does not show yet': [event({ state: 'created', unconfirmed: true }), undefined, known],
  'a pod alone': [{ uid }, undefined, news],
  'nothing at all': [{}, undefined, known],
};

for (const [name, [given, state, expected]] of Object.entries(cases)) {
  test(`event: ${name}`, () => {
    assert.deepEqual(classifyEvent(given, state === undefined ? undefined : item(state)), expected);
  });
}

test('a state that this version does not know has reached nothing', () => {
  assert.equal(hasReached('paused', 'created'), false);
});
