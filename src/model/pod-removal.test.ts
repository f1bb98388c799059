import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { PodRemoval } from './pod-removal.ts';

test('every registered state forgets a removed pod, also after one that fails', () => {
  const log = new MemoryLog();
  const removal = new PodRemoval(log);
  const kept = new Set(['a', 'b']);
  removal.register('broken', {
    forget: () => {
      throw new Error('no');
    },
    size: () => 0,
  });
  removal.register('kept', { forget: (uid) => void kept.delete(uid), size: () => kept.size });
  removal.podRemoved(podUid('a'));
  assert.deepEqual([...kept], ['b']);
  assert.deepEqual(
    [...removal.sizes()],
    [
      ['broken', 0],
      ['kept', 1],
    ],
  );
  assert.deepEqual(
    log.entries.map(({ message, fields }) => [message, fields['state']]),
    [['Per-pod state was not dropped', 'broken']],
  );
});

test('a name is registered once', () => {
  const removal = new PodRemoval(new MemoryLog());
  removal.register('one', { forget: () => {}, size: () => 0 });
  assert.throws(() => removal.register('one', { forget: () => {}, size: () => 0 }), /registered twice/);
});
