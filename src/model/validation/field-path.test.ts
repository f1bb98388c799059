import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPath } from './field-path.ts';

test('a path reads as Kubernetes writes it', () => {
  assert.equal(
    formatPath(['spec', 'containers', 0, 'resources', 'limits', 'cpu']),
    'spec.containers[0].resources.limits[cpu]',
  );
  assert.equal(formatPath([]), '');
});

test('a key of any length makes a path of bounded length', () => {
  const long = 'k'.repeat(1_000_000);
  assert.equal(formatPath(['metadata', 'labels', long]), `metadata.labels[${'k'.repeat(253)}…]`);
  assert.equal(formatPath(['spec', long]), `spec.${'k'.repeat(253)}…`);
  // The longest key that an object may have stays whole.
  assert.equal(formatPath(['data', 'k'.repeat(253)]), `data[${'k'.repeat(253)}]`);
});
