import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askUnder, type AnswersUnderAttack } from './support/ask-under.ts';
import { attack } from './support/attack.ts';
import { LimitNode } from './support/limit-node.ts';

const attacker = '127.66.0.2';
const connections = 50;
const holdMs = 3_000;
/** A handshake and an answer; without the limits there is none before the attack is over. */
const maxAnswerMs = 2_500;

let node: LimitNode;
let admin: { cert: string; key: string };
before(async () => {
  node = await LimitNode.start('frames');
  admin = await node.clientFiles();
  await node.ask('/healthz', admin);
});
after(() => node?.destroy());

interface FloodReport {
  readonly connected: number;
  readonly endedByServer: number;
}

// An unauthenticated client kept a processor busy for as long as it liked, one frame at a time.
const kinds = ['ping', 'settings', 'window', 'priority', 'reset', 'continuation', 'halfHeaders', 'requests'] as const;
for (const kind of kinds) {
  test(`${connections} connections over HTTP/2 with frames of one kind: ${kind}`, async () => {
    const seen: { answers?: AnswersUnderAttack; report?: FloodReport } = {};
    const { rssBeforeKb, rssPeakKb } = await node.during(async () => {
      const attacking = attack<FloodReport>('frame-floods.mjs', node.port, kind, connections, attacker, holdMs);
      const options = { afterMs: 200, pid: node.agent.pid };
      seen.answers = await askUnder(attacking, () => node.ask('/healthz', admin), options);
      seen.report = await attacking;
    });
    assert.deepEqual(seen.answers?.failures, []);
    assert.ok((seen.answers?.slowestOwnMs ?? Number.NaN) < maxAnswerMs, JSON.stringify(seen.answers));
    // After what makes no sense the library takes nothing more; the connection ends in its time.
    if (kind !== 'halfHeaders') assert.ok((seen.report?.endedByServer ?? 0) > 0, JSON.stringify(seen.report));
    assert.ok(rssPeakKb - rssBeforeKb < 100_000, `${rssBeforeKb} KiB before, ${rssPeakKb} KiB at most`);
    await node.memoryReturns(rssBeforeKb + 60_000);
  });
}
