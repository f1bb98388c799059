import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clock, until } from '../support/real-wait.ts';
import { attack } from './support/attack.ts';
import { LimitNode } from './support/limit-node.ts';

/** Each is two calls of the runtime or more, and each of those two lines. */
const requests = 6_000;
/** Far more than a pipe and what is kept for its reader. */
const maxKeptBytes = 4 * 1024 * 1024;

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('hung-log-reader', { flags: ['--v=10'] });
  node.schedule('talker');
  await node.ready('talker');
});
after(() => node?.destroy());

async function makeItTalk(): Promise<void> {
  const { cert, key } = await node.clientFiles();
  const url = `https://127.0.0.1:${node.port}/containerLogs/default/talker/main?tailLines=1`;
  assert.deepEqual(await attack('ask-often.mjs', url, requests, cert, key), { 200: requests });
}

// Lines went to the reader by calls that wait for room: the agent stood still with the first line there was none for.
test('a reader of the log that hangs costs lines, not the node', async () => {
  const since = node.agent.text.length;
  node.agent.stopReading();
  const endured = await node.during(makeItTalk);
  assert.ok(endured.rssPeakKb - endured.rssBeforeKb < 128 * 1024, JSON.stringify(endured));
  node.agent.readAgain();
  await node.agent.said(/"Log lines were dropped, the reader of standard error did not keep up" lines=\d+/, since);
  const read = node.agent.text.length - since;
  assert.ok(read < maxKeptBytes, `${read} bytes were kept for the reader`);
});

test('a reader of the log that hangs does not hold up the end', async () => {
  node.agent.stopReading();
  await makeItTalk();
  const began = clock.monotonic();
  node.agent.kill('SIGTERM');
  await until('the agent has ended', () => !node.agent.running, { timeoutMs: 20_000 });
  assert.ok(clock.monotonic() - began < 15_000);
  node.agent.readAgain();
  const { code, signal } = await node.agent.ended;
  assert.deepEqual([code, signal], [0, null]);
});
