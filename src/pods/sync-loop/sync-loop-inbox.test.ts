import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { SyncLoopInbox, type SyncLoopMessage } from './sync-loop-inbox.ts';

test('messages wait for the sync loop in order, and are handled at once afterwards', () => {
  const inbox = new SyncLoopInbox();
  const handled: SyncLoopMessage[] = [];
  inbox.probeChanged(podUid('a'));
  inbox.resourcesChanged([podUid('b')]);
  inbox.setHandler((message) => void handled.push(message));
  inbox.observedChanged(podUid('c'));
  assert.deepEqual(handled, [
    { type: 'probeChanged', uid: 'a' },
    { type: 'resourcesChanged', uids: ['b'] },
    { type: 'observedChanged', uid: 'c' },
  ]);
});

test('there is one handler', () => {
  const inbox = new SyncLoopInbox();
  inbox.setHandler(() => {});
  assert.throws(() => inbox.setHandler(() => {}), /handler already/);
});
