import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../base/ids.ts';
import { ProbeResults } from './probe-results.ts';

const id = containerId('c0');

test('a container without probes is healthy, started and ready', () => {
  const results = new ProbeResults();
  assert.equal(results.liveness(id), 'success');
  assert.equal(results.startup(id), 'success');
  assert.equal(results.started('web', id), true);
  assert.equal(results.ready('web', id), true);
});

test('each kind is answered by its own result, and nothing is ready that has not started', () => {
  const results = new ProbeResults();
  results.set(id, 'Startup', 'unknown');
  results.set(id, 'Readiness', 'success');
  results.set(id, 'Liveness', 'failure');
  assert.deepEqual(
    [results.liveness(id), results.startup(id), results.started('web', id), results.ready('web', id)],
    ['failure', 'unknown', false, false],
  );
  results.set(id, 'Startup', 'success');
  assert.equal(results.ready('web', id), true);
  results.set(id, 'Readiness', 'failure');
  assert.equal(results.ready('web', id), false);
});

test('an instance without results is forgotten', () => {
  const results = new ProbeResults();
  results.set(id, 'Startup', 'success');
  results.set(id, 'Liveness', 'failure');
  results.remove(id, 'Liveness');
  assert.equal(results.liveness(id), 'success');
  assert.equal(results.size, 1);
  results.remove(id, 'Startup');
  results.remove(id, 'Readiness');
  assert.equal(results.size, 0);
});

test('a question about an unknown instance lets the workers catch up first', () => {
  let caughtUp = 0;
  const results: ProbeResults = new ProbeResults(() => {
    caughtUp++;
    results.set(id, 'Readiness', 'failure');
  });
  assert.equal(results.ready('web', id), false);
  assert.equal(results.ready('web', id), false);
  assert.equal(caughtUp, 1);
});
