import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, PodSpec } from '../../gen/kubernetes/types.ts';
import type { FileFacts } from '../../model/file-facts.ts';
import { commonUser, forGroup, needsChange } from './ownership.ts';

const entry = (kind: FileFacts['kind'], mode: number, gid = 0): FileFacts => ({ kind, mode, uid: 0, gid });

test('members of the group may read, and write unless the volume is read-only; folders hand the group on', () => {
  assert.deepEqual(forGroup({ gid: 7, readOnly: false }), { gid: 7, fileBits: 0o660, folderBits: 0o2770 });
  assert.deepEqual(forGroup({ gid: 7, readOnly: true }), { gid: 7, fileBits: 0o440, folderBits: 0o2550 });
});

test('a tree is walked always, or when its top is not right', () => {
  const group = { gid: 7, readOnly: false };
  const right = entry('folder', 0o2770, 7);
  assert.equal(needsChange(undefined, right, group), true);
  assert.equal(needsChange('Always', right, group), true);
  assert.equal(needsChange('OnRootMismatch', right, group), false);
  assert.equal(needsChange('OnRootMismatch', { ...right, gid: 0 }, group), true);
  assert.equal(needsChange('OnRootMismatch', { ...right, mode: 0o770 }, group), true);
});

describe('the user that all containers run as', () => {
  const container = (name: string, runAsUser?: number): Container => ({
    name,
    ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
  });
  const rows: readonly (readonly [string, PodSpec, number | undefined])[] = [
    ['unset', { containers: [container('a')] }, undefined],
    ['the pod says', { securityContext: { runAsUser: 5 }, containers: [container('a'), container('b')] }, 5],
    ['all say the same', { containers: [container('a', 5)], initContainers: [container('b', 5)] }, 5],
    [
      'one says another',
      { securityContext: { runAsUser: 5 }, containers: [container('a'), container('b', 6)] },
      undefined,
    ],
    ['one says nothing', { containers: [container('a', 5), container('b')] }, undefined],
    ['root is a user too', { containers: [container('a', 0)] }, 0],
  ];
  for (const [name, spec, expected] of rows) test(name, () => assert.equal(commonUser(spec), expected));
});
