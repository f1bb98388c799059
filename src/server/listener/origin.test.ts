import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { isForeignPage } from './origin.ts';

const host = 'node-1:10250';

test('pages of other origins', () => {
  const table: readonly (readonly [string, string, boolean, IncomingHttpHeaders, boolean])[] = [
    ['a client that is no browser', 'GET', true, { host }, false],
    ['a page of this server', 'GET', true, { host, origin: 'https://node-1:10250' }, false],
    ['another page', 'GET', true, { host, origin: 'https://evil.example' }, true],
    ['the same name at another port', 'GET', true, { host, origin: 'https://node-1' }, true],
    ['the same name in capitals', 'GET', true, { host, origin: 'https://NODE-1:10250' }, false],
    ['the usual port, which origins leave out', 'GET', true, { host: 'node-1:443', origin: 'https://node-1' }, false],
    ['a page that hides where it is from', 'GET', true, { host, origin: 'null' }, true],
    ['two origins', 'GET', true, { host, origin: 'https://node-1:10250, https://evil.example' }, true],
    ['a host that is none', 'GET', true, { host: '', origin: 'https://node-1' }, true],
    ['no host', 'GET', true, { origin: 'https://node-1' }, true],
    ['by way of an API server', 'GET', true, { host, origin: 'https://console', 'x-forwarded-for': '10.0.0.1' }, false],
    ['to read, which its browser keeps from it', 'GET', false, { host, origin: 'https://evil.example' }, false],
    ['a command with a form', 'POST', false, { host, origin: 'https://evil.example' }, true],
    ['a command of a client that is no browser', 'POST', false, { host }, false],
  ];
  for (const [what, method, isUpgrade, headers, wanted] of table)
    assert.equal(isForeignPage(method, isUpgrade, headers), wanted, what);
});
