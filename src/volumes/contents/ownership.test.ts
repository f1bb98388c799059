import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, PodSpec } from '../../gen/kubernetes/types.ts';
import type { FileFacts } from '../ports.ts';
import { commonUser, forGroup, needsChange } from './ownership.ts';

const entry = (kind: FileFacts['kind'], mode: number, gid = 0): FileFacts => ({ kind, mode, uid: 0, gid });

describe('what becomes of an entry', () => {
  const rows: readonly (readonly [string, FileFacts, boolean, ReturnType<ReturnType<typeof forGroup>>])[] = [
    ['a folder', entry('folder', 0o777), false, { gid: 7, mode: 0o2777 }],
    ['a folder nobody may enter', entry('folder', 0o700), false, { gid: 7, mode: 0o2770 }],
    ['a folder of a read-only volume', entry('folder', 0o755), true, { gid: 7, mode: 0o2755 }],
    ['memory', entry('folder', 0o1777), true, { gid: 7, mode: 0o3777 }],
    ['a file', entry('file', 0o600), false, { gid: 7, mode: 0o660 }],
    ['a file of a read-only volume', entry('file', 0o600), true, { gid: 7, mode: 0o640 }],
    ['a program stays one', entry('file', 0o755), false, { gid: 7, mode: 0o775 }],
    ['a link', entry('link', 0o777), false, { gid: 7 }],
    ['a socket', entry('socket', 0o600), false, { gid: 7, mode: 0o660 }],
    ['a folder that is right', entry('folder', 0o2775, 7), false, undefined],
    ['a file that is right', entry('file', 0o664, 7), false, undefined],
    ['a link that is right', entry('link', 0o777, 7), false, undefined],
    ['the right group but too few bits', entry('file', 0o600, 7), false, { gid: 7, mode: 0o660 }],
  ];
  for (const [name, facts, readOnly, expected] of rows) {
    test(name, () => assert.deepEqual(forGroup({ gid: 7, readOnly })(facts), expected));
  }
});

test('a tree is gone through always, or when its top is not right', () => {
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
    ['nobody says', { containers: [container('a')] }, undefined],
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
