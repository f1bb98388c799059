import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskArguments } from './mask-arguments.ts';

const table: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ['node', '/opt/tubelet.mjs', '--v=2', '--config', '/k'],
    ['node', '/opt/tubelet.mjs', '--v=2', '--config', '/k'],
  ],
  [['--manifest-url-header=A:secret,B:secret'], ['--manifest-url-header=<masked>']],
  [
    ['--manifest_url_header', 'A:secret', '--v', '3'],
    ['--manifest_url_header', '<masked>', '--v', '3'],
  ],
  [
    ['--storage-driver-password', '--v=3'],
    ['--storage-driver-password', '--v=3'],
  ],
  [
    ['--manifest-url=https://me:secret@host/path?x=a@b', '--manifest-url', 'http://secret@host'],
    ['--manifest-url=https://<masked>@host/path?x=a@b', '--manifest-url', 'http://<masked>@host'],
  ],
  [['--authentication-token-webhook=true'], ['--authentication-token-webhook=true']],
];
for (const [argv, shown] of table) {
  test(argv.join(' '), () => assert.deepEqual(maskArguments(argv), shown));
}
