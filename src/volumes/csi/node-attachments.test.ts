import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../gen/kubernetes/types.ts';
import { nodeAttachments } from './node-attachments.ts';

test('what the object of this node says of volumes', () => {
  let node: Node | undefined;
  const attachments = nodeAttachments({ get: ({ name }) => (name === 'n1' ? node : undefined) }, 'n1');
  assert.deepEqual([attachments.isReportedInUse('a'), attachments.isAttached('a')], [false, false]);
  node = { status: {} };
  assert.deepEqual([attachments.isReportedInUse('a'), attachments.isAttached('a')], [false, false]);
  node = { status: { volumesInUse: ['a'], volumesAttached: [{ name: 'b', devicePath: '' }] } };
  assert.deepEqual([attachments.isReportedInUse('a'), attachments.isAttached('a')], [true, false]);
  assert.deepEqual([attachments.isReportedInUse('b'), attachments.isAttached('b')], [false, true]);
});
