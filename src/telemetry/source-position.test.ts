import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SourcePositions } from './source-position.ts';

const askFor = (positions: SourcePositions) => positions.caller();

test('the caller is found in its source, through the map of the running bundle', () => {
  const positions = new SourcePositions();
  const first = askFor(positions);
  const second = askFor(positions);
  assert.equal(first.file, 'source-position.test.ts');
  assert.equal(second.line, first.line + 1);
});

test('the limit of stack traces is put back', () => {
  const before = Error.stackTraceLimit;
  askFor(new SourcePositions());
  assert.equal(Error.stackTraceLimit, before);
});

test('without a map the frame counts as it is', () => {
  const positions = new SourcePositions({ readText: () => undefined });
  const stack = 'Error: x\n    at run (/opt/agent/main.mjs:12:34)';
  assert.deepEqual(positions.ofStack(stack, 1), { file: 'main.mjs', line: 12, skipped: false });
});

test('a map is read once, a broken one not at all', () => {
  const asked: string[] = [];
  const positions = new SourcePositions({
    readText: (path) => {
      asked.push(path);
      return 'broken';
    },
  });
  const at = (line: number) => positions.ofStack(`Error\n    at file:///opt/my%20agent/main.mjs:${line}:1`, 1);
  assert.deepEqual([at(1).line, at(2).line, at(1).line], [1, 2, 1]);
  assert.deepEqual(asked, ['/opt/my agent/main.mjs.map']);
});

test('frames of log code and of no file are passed over', () => {
  const positions = new SourcePositions({ readText: () => undefined });
  const stack = [
    'Error',
    '    at Object.info (/x/src/base/log.ts:3:1)',
    '    at KlogSink.info (file:///x/src/telemetry/create-log.ts:3:1)',
    '    at Array.forEach (<anonymous>)',
    '    at async run (file:///x/src/pods/catalog.ts:9:2)',
  ];
  assert.equal(positions.ofStack(stack.join('\n'), 1).file, 'catalog.ts');
  assert.equal(positions.ofStack('Error\n    at new Promise (<anonymous>)', 1).file, '???');
});
