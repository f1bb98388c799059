import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { clock } from '../support/real-wait.ts';
import { askUnder, type AnswersUnderAttack } from './support/ask-under.ts';
import { attack } from './support/attack.ts';
import { LimitNode } from './support/limit-node.ts';

/** The attacker's, of loopback; the good client and the watch of health come from 127.0.0.1 unless a test says otherwise. */
const attacker = '127.66.0.1';
/** What the issue allows a good client on the secured port. */
const maxAnswerMs = 500;

let node: LimitNode;
let admin: { cert: string; key: string };
before(async () => {
  node = await LimitNode.start('connections');
  admin = await node.clientFiles();
  // What an answer needs is loaded, and the API server's verdict is remembered.
  await node.ask('/healthz', admin);
});
after(() => node?.destroy());

function demandAnswers(answers: AnswersUnderAttack): void {
  assert.deepEqual(answers.failures, []);
  assert.ok(answers.answered > 0, 'nothing was asked during the attack');
  assert.ok(answers.slowestOwnMs <= maxAnswerMs, JSON.stringify(answers));
}

interface HeadersReport {
  readonly connected: number;
  readonly maxSentBytes: number;
}

describe('headers that never end', () => {
  // 253 connections with 1 MB each exhausted the heap, and the agent was gone.
  for (const protocol of ['http/1.1', 'h2']) {
    test(`over ${protocol}`, async () => {
      const seen: { answers?: AnswersUnderAttack; report?: HeadersReport } = {};
      const { rssBeforeKb, rssPeakKb } = await node.during(async () => {
        const attacking = attack<HeadersReport>(
          'endless-headers.mjs',
          node.port,
          protocol,
          253,
          1 << 20,
          attacker,
          6_000,
        );
        seen.answers = await askUnder(attacking, () => node.ask('/healthz', admin), { afterMs: 200 });
        seen.report = await attacking;
      });
      assert.ok((seen.report?.connected ?? 0) >= 100, JSON.stringify(seen.report));
      assert.ok(seen.answers !== undefined);
      assert.deepEqual(seen.answers.failures, []);
      assert.ok(rssPeakKb - rssBeforeKb < 100_000, `${rssBeforeKb} KiB before, ${rssPeakKb} KiB at most`);
      await node.memoryReturns(rssBeforeKb + 60_000);
    });
  }
});

interface SilentReport {
  readonly opened: number;
  readonly endedByServer: number;
}

describe('4000 connections that say nothing', () => {
  // They locked out everybody; 2000 made a good client wait for 2.3 s.
  for (const kind of ['tcp', 'tls']) {
    for (const [whose, goodClient] of [
      ['another address', '127.0.0.1'],
      ['the same address', attacker],
    ] as const) {
      test(`${kind}, and a good client of ${whose}`, async () => {
        const seen: { answers?: AnswersUnderAttack } = {};
        const { rssBeforeKb } = await node.during(async () => {
          const holdMs = kind === 'tls' ? 8_000 : 5_000;
          const attacking = attack<SilentReport>('silent-connections.mjs', node.port, kind, 4_000, attacker, holdMs);
          const ask = () => node.ask('/healthz', admin, { from: goodClient, timeoutMs: 5_000 });
          seen.answers = await askUnder(attacking, ask, { pid: node.agent.pid });
          const report = await attacking;
          assert.ok(report.opened >= (kind === 'tls' ? 500 : 4_000), JSON.stringify(report));
        });
        assert.ok(seen.answers !== undefined);
        if (kind === 'tcp' || whose === 'another address') demandAnswers(seen.answers);
        else assert.ok(seen.answers.answered > 0, JSON.stringify(seen.answers));
        await node.memoryReturns(rssBeforeKb + 60_000);
      });
    }
  }

  test('a connection that was let in before stays, also at the same address', async () => {
    const agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      rejectUnauthorized: false,
      cert: readFileSync(admin.cert),
      key: readFileSync(admin.key),
    });
    const ports = new Set<number>();
    const ask = (): Promise<{ status: number; ms: number }> =>
      new Promise((resolve, reject) => {
        const began = clock.monotonic();
        const options = { host: '127.0.0.1', port: node.port, path: '/healthz', agent, localAddress: attacker };
        const asked = request(options, (response) => {
          ports.add(response.socket.localPort ?? 0);
          response
            .resume()
            .on('end', () => resolve({ status: response.statusCode ?? 0, ms: clock.monotonic() - began }));
        });
        asked.on('error', reject).end();
      });
    await ask();
    const attacking = attack<SilentReport>('silent-connections.mjs', node.port, 'tls', 2_000, attacker, 4_000);
    demandAnswers(await askUnder(attacking, ask, { pid: node.agent.pid }));
    assert.equal(ports.size, 1, 'it was the same connection all the time');
    agent.destroy();
  });
});

describe('the ports without TLS', () => {
  for (const which of ['readOnlyPort', 'healthzPort'] as const) {
    test(`4000 silent connections to the ${which} from the address that asks for health`, async () => {
      const seen: { answers?: AnswersUnderAttack } = {};
      const ask = async (): Promise<{ status: number; ms: number }> => {
        const began = clock.monotonic();
        const answer = await fetch(`http://127.0.0.1:${node[which]}/healthz`, {
          signal: AbortSignal.timeout(5_000),
          headers: { connection: 'close' },
        });
        await answer.text();
        return { status: answer.status, ms: clock.monotonic() - began };
      };
      // The watch of `during` asks the health port from there all the while.
      await node.during(async () => {
        const attacking = attack<SilentReport>('silent-connections.mjs', node[which], 'tcp', 4_000, '127.0.0.1', 4_000);
        seen.answers = await askUnder(attacking, ask, { afterMs: 500, pid: node.agent.pid });
        const report = await attacking;
        assert.ok(report.opened >= 4_000, JSON.stringify(report));
      });
      assert.deepEqual(seen.answers?.failures, []);
      assert.ok((seen.answers?.slowestOwnMs ?? Number.NaN) <= 1_000, JSON.stringify(seen.answers));
    });
  }
});
