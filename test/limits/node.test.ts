import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { LimitNode } from './support/limit-node.ts';

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('node');
});
after(() => node?.destroy());

test('a node that nobody attacks does what every attack is measured by', async () => {
  const endured = await node.during(async () => {});
  assert.ok(endured.rssAfterKb > 0);
  const answer = await node.ask('/healthz', await node.clientFiles());
  assert.deepEqual([answer.status, answer.body], [200, 'ok']);
});
