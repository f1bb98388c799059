import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changeFor, type AccessChange, type EntryAccess } from './group-access.ts';

const access = { gid: 7, fileBits: 0o660, folderBits: 0o2770 };
const entry = (kind: string, mode: number, gid = 0): EntryAccess => ({ kind, mode, gid });

describe('what becomes of an entry', () => {
  const rows: readonly (readonly [string, EntryAccess, AccessChange | undefined])[] = [
    ['a folder', entry('folder', 0o777), { gid: 7, mode: 0o2777 }],
    ['a folder without any rights', entry('folder', 0o700), { gid: 7, mode: 0o2770 }],
    ['memory', entry('folder', 0o1777), { gid: 7, mode: 0o3777 }],
    ['a file', entry('file', 0o600), { gid: 7, mode: 0o660 }],
    ['a file with all the bits', entry('file', 0o664), { gid: 7 }],
    ['a program stays one', entry('file', 0o755), { gid: 7, mode: 0o775 }],
    ['a program that runs as its owner does so still', entry('file', 0o4775), { gid: 7, mode: 0o4775 }],
    ['a link', entry('link', 0o777), { gid: 7 }],
    ['a socket', entry('socket', 0o600), { gid: 7, mode: 0o660 }],
    ['the right group but too few bits', entry('file', 0o600, 7), { mode: 0o660 }],
    ['a folder that is right', entry('folder', 0o2775, 7), undefined],
    ['a file that is right', entry('file', 0o664, 7), undefined],
    ['a program that is right', entry('file', 0o6775, 7), undefined],
    ['a link that is right', entry('link', 0o777, 7), undefined],
  ];
  for (const [name, facts, expected] of rows) {
    test(name, () => assert.deepEqual(changeFor(access, facts), expected));
  }
});
