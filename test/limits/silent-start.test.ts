import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { run, tubelet } from '../support/real-program.ts';
import { LimitNode } from './support/limit-node.ts';

// For the engine that runs the test: `npm run test:engines` does so on each that tubelet supports.

/** A line of the log with the position of its caller, or one of a value of several lines. */
const logLine = /^(?:[IWE]\d{4} \d{2}:\d{2}:\d{2}\.\d{6} +\d+ [a-z0-9-]+\.ts:\d+\] "|\t| >)/;

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('silent-start');
});
after(() => node?.destroy());

test('an agent that starts, runs a pod and ends prints lines of the log and nothing else', async () => {
  node.schedule('any');
  await node.ready('any');
  await node.remove('any');
  node.agent.kill('SIGTERM');
  const { code } = await node.agent.ended;
  assert.equal(code, 0);
  const lines = node.agent.text.split('\n').filter((line) => line !== '');
  assert.ok(lines.length > 20, node.agent.text);
  assert.deepEqual(
    lines.filter((line) => !logLine.test(line)),
    [],
  );
});

test('a command prints its answer and nothing else', async () => {
  const version = await run([tubelet, '--version']);
  assert.match(version.text, /^Kubernetes v1\.\d+\.\d+\+tubelet\.\S+\n$/);
  const help = await run([tubelet, '--help']);
  assert.deepEqual([help.code, /error|warning: /i.exec(help.text.split('\n')[0] ?? '')], [0, null]);
});
