import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askUnder, type AnswersUnderAttack } from './support/ask-under.ts';
import { attack } from './support/attack.ts';
import { LimitNode } from './support/limit-node.ts';

const attacker = '127.66.0.3';
const connections = 8;
const atOnce = 50;
const holdMs = 5_000;
/** How long the API server takes to judge a token: this is what makes a flood of tokens fill the reviews under way. */
const reviewMs = 400;
/** A token of before is asked about again after this long. */
const cacheTTL = '1s';

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('tokens', {
    configuration: {
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL } },
      authorization: { mode: 'Webhook' },
    },
  });
  node.api.faults.slow(reviewMs, { when: ({ resource }) => resource === 'tokenreviews' });
});
after(() => node?.destroy());

interface TokensReport {
  readonly asked: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** `fresh`: a good token that was never seen before, each time. */
async function underFlood(from: string, fresh: boolean): Promise<AnswersUnderAttack> {
  const seen: { answers?: AnswersUnderAttack; report?: TokensReport } = {};
  let count = 0;
  const ask = () => {
    const token = `good-${from}-${fresh ? count++ : 0}`;
    node.api.tokens.add(token, { name: 'metrics', groups: ['system:authenticated'] });
    return node.ask('/healthz', { token }, { from, timeoutMs: 5_000 });
  };
  assert.equal((await ask()).status, 200);
  const { rssBeforeKb } = await node.during(async () => {
    const attacking = attack<TokensReport>('bad-tokens.mjs', node.port, connections, atOnce, attacker, holdMs);
    seen.answers = await askUnder(attacking, ask, { afterMs: 1_000, everyMs: 100, pid: node.agent.pid });
    seen.report = await attacking;
  });
  assert.ok((seen.report?.asked ?? 0) > connections * atOnce, JSON.stringify(seen.report));
  await node.memoryReturns(rssBeforeKb + 60 * 1024);
  assert.ok(seen.answers !== undefined && seen.answers.answered > 0);
  return seen.answers;
}

// 256 reviews were under way at a time for everybody: with those of bad tokens, good ones got a 401.
test('good tokens from another address, each of them new', async () => {
  const { failures, slowestOwnMs } = await underFlood('127.0.0.1', true);
  assert.deepEqual(failures, []);
  assert.ok(slowestOwnMs < reviewMs + 1_000, `${slowestOwnMs} ms`);
});

test('a good token of before, at the same address', async () => {
  const { failures } = await underFlood(attacker, false);
  assert.deepEqual(failures, []);
});
