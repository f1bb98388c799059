import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { hasReached, judgeHint, type HintVerdict } from './judge-hint.ts';
import type { Hint } from './ports.ts';

const uid = podUid('uid-1');
const item = (state: string) => ({ uid, state });
const known: HintVerdict = { type: 'known' };
const news: HintVerdict = { type: 'news', uid };
const unknown: HintVerdict = { type: 'unknown', id: 'c1' };
const hint = (more: Partial<Hint> = {}): Hint => ({ containerId: 'c1', ...more });

const cases: Readonly<Record<string, readonly [Hint, string | undefined, HintVerdict]>> = {
  'an exit of what runs': [hint({ state: 'exited' }), 'running', news],
  'an exit of what was only created': [hint({ state: 'exited' }), 'created', news],
  'an exit that is known': [hint({ state: 'exited' }), 'exited', known],
  'a start that is known': [hint({ state: 'running' }), 'running', known],
  'a start of what has ended since': [hint({ state: 'running' }), 'exited', known],
  'a start of what was created': [hint({ state: 'running' }), 'created', news],
  'the making of what is listed': [hint({ state: 'created' }), 'unknown', known],
  'an exit of what the runtime lost track of': [hint({ state: 'exited' }), 'unknown', news],
  'the removal of what is listed': [hint({ state: 'gone' }), 'exited', news],
  'the removal of what is not': [hint({ state: 'gone' }), undefined, known],
  'the end of a sandbox': [hint({ state: 'exited' }), 'sandbox ready', news],
  'the end of a sandbox that is known': [hint({ state: 'exited' }), 'sandbox notReady', known],
  'the start of a sandbox that is known': [hint({ state: 'running' }), 'sandbox ready', known],
  'something without a state': [hint(), 'exited', news],
  'an exit of nobody knows what': [hint({ state: 'exited' }), undefined, unknown],
  'something of nobody knows what': [hint(), undefined, unknown],
  'an exit of what is not listed yet, with its pod': [hint({ state: 'exited', uid }), undefined, news],
  'a making that CRI tells of': [hint({ state: 'created', uid }), undefined, news],
  'a making that CRI does not show yet': [hint({ state: 'created', ahead: true }), undefined, known],
  'a pod alone': [{ uid }, undefined, news],
  'nothing at all': [{}, undefined, known],
};

for (const [name, [given, state, verdict]] of Object.entries(cases)) {
  test(`hint: ${name}`, () => {
    assert.deepEqual(judgeHint(given, state === undefined ? undefined : item(state)), verdict);
  });
}

test('a state of tomorrow has reached nothing', () => {
  assert.equal(hasReached('paused', 'created'), false);
});
