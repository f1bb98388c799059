import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadGolden } from '../testing/golden.ts';
import { computeTerminationMessage, firstBytes, wantsLogTail } from './termination-message.ts';

const failed = {
  fileContent: '',
  policy: 'FallbackToLogsOnError',
  exitCode: 2,
  reason: 'Error',
  logTail: 'last words\n',
};

test('what the container wrote comes first', () => {
  assert.equal(computeTerminationMessage({ ...failed, fileContent: 'why\n' }), 'why\n');
  assert.equal(computeTerminationMessage({ ...failed, fileContent: undefined, policy: 'File' }), '');
});

test('the log speaks only for a container that failed after it had run', () => {
  assert.equal(computeTerminationMessage(failed), 'last words\n');
  assert.equal(computeTerminationMessage({ ...failed, policy: 'File' }), '');
  assert.equal(computeTerminationMessage({ ...failed, exitCode: 0 }), '');
  assert.equal(computeTerminationMessage({ ...failed, reason: 'ContainerCannotRun' }), '');
  assert.equal(wantsLogTail({ ...failed, fileContent: 'why' }), false);
});

test('limits: the end of the file, the last lines and bytes of the log', () => {
  const file = `${'a'.repeat(5000)}end`;
  assert.equal(computeTerminationMessage({ ...failed, fileContent: file }), file.slice(-4096));
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}\n`);
  assert.equal(computeTerminationMessage({ ...failed, logTail: lines.join('') }), lines.slice(-80).join(''));
  assert.equal(Buffer.byteLength(computeTerminationMessage({ ...failed, logTail: 'ü'.repeat(3000) })), 2048);
  assert.equal(computeTerminationMessage({ ...failed, logTail: `x${'ü'.repeat(1024)}yz` }), `${'ü'.repeat(1023)}yz`);
});

test('the runtime speaks before the container', () => {
  assert.equal(computeTerminationMessage({ ...failed, runtimeMessage: 'boom' }), 'boom: last words\n');
  assert.equal(computeTerminationMessage({ ...failed, policy: 'File', runtimeMessage: 'boom' }), 'boom');
});

test('cutting never halves a character', () => {
  assert.equal(firstBytes('aü', 2), 'a');
  assert.equal(firstBytes('aü', 3), 'aü');
  assert.equal(firstBytes('€€', 4), '€');
});

test('recorded termination messages', () => {
  for (const [name, input] of [
    ['termination-message', { ...failed, policy: 'File', fileContent: 'why\n' }],
    ['termination-fallback', failed],
  ] as const) {
    const end = loadGolden(name).statuses.at(-1)?.containerStatuses?.[0]?.state?.terminated;
    assert.equal(computeTerminationMessage(input), end?.message, name);
  }
});
