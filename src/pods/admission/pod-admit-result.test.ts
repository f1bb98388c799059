import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejected } from './pod-admit-result.ts';

test('a rejection is cut, however long the names of the spec in it are', () => {
  assert.deepEqual(rejected('OutOfcpu', 'too little'), { admit: false, reason: 'OutOfcpu', message: 'too little' });
  const long = 'é'.repeat(100_000);
  const { reason, message } = rejected(`OutOf${long}`, `forbidden sysctl: ${long}`);
  assert.match(reason, /^OutOfé/);
  assert.match(message, /^forbidden sysctl: é/);
  assert.ok(Buffer.byteLength(reason) <= 1_024 && Buffer.byteLength(message) <= 4 * 1_024);
});
