import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, dialFailure, dialTimeout, hostAndPort } from './network-text.ts';

const failing = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

test('why a connection could not be made', () => {
  const text = (error: unknown): string => dialFailure('10.0.0.2', 80, error);
  assert.equal(text(failing('ECONNREFUSED')), 'dial tcp 10.0.0.2:80: connect: connection refused');
  assert.equal(text(failing('EHOSTUNREACH')), 'dial tcp 10.0.0.2:80: connect: no route to host');
  assert.equal(text(failing('ENETUNREACH')), 'dial tcp 10.0.0.2:80: connect: network is unreachable');
  assert.equal(text(failing('ESTRANGE')), 'dial tcp 10.0.0.2:80: connect ESTRANGE');
  assert.equal(dialFailure('no.invalid', 80, failing('ENOTFOUND')), 'dial tcp: lookup no.invalid: no such host');
  assert.equal(dialTimeout('fd00::2', 80), 'dial tcp [fd00::2]:80: i/o timeout');
});

test('of several addresses the first failure speaks', () => {
  const both = new AggregateError([failing('ECONNREFUSED'), failing('ENETUNREACH')]);
  assert.equal(codeOf(both), 'ECONNREFUSED');
  assert.equal(hostAndPort('a.example', 8080), 'a.example:8080');
});
