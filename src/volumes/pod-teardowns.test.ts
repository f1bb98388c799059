import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { PodTeardowns } from './pod-teardowns.ts';

const uid = podUid('u');

test('teardowns of a pod wait for each other, and leave no record', async () => {
  const teardowns = new PodTeardowns();
  const steps: string[] = [];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = teardowns.run(uid, async () => {
    await held;
    steps.push('first');
    throw new Error('busy');
  });
  const second = teardowns.run(uid, async () => void steps.push('second'));
  const mounted = teardowns.ended(uid).then(() => steps.push('mounts'));
  await teardowns.run(podUid('other'), async () => void steps.push('other'));
  assert.equal(teardowns.size, 1);
  release();
  await assert.rejects(first, /busy/);
  await second;
  await mounted;
  assert.deepEqual(steps, ['other', 'first', 'second', 'mounts']);
  assert.equal(teardowns.size, 0);
});
