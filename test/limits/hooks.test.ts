import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import type { Event, HTTPGetAction, Probe } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { clock, until } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';

/** As much as the runtime's answer can carry, of what is the dearest to quote. */
const output = '\x01'.repeat(15 * 1024 * 1024);
const ticksPerSecond = 100;
/** Pieces of the answers leave holes between smaller ones, which libc keeps for the next; it is no more after many attacks. */
const maxKeptKb = 100 * 1024;

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('hooks');
});
after(() => node?.destroy());

async function endlessServer(context: TestContext, kind: string): Promise<number> {
  const child = spawn(process.execPath, ['test/limits/attackers/endless-http.mjs', kind], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  const [port] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return Number(port);
}

/** Processor time of the agent, user and system. */
function processorMs(): number {
  const fields = readFileSync(`/proc/${node.agent.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}

/** Part of one processor that the agent takes while nothing is asked of it. */
async function busyShare(ms = 2_000): Promise<number> {
  const [began, before] = [clock.monotonic(), processorMs()];
  await clock.sleep(ms);
  return (processorMs() - before) / (clock.monotonic() - began);
}

const events = (name: string): readonly Event[] =>
  node.api.objects.all<Event>(apiResources.events).filter(({ involvedObject }) => involvedObject?.name === name);

test('hooks that fail and print 15 MB cost a short message each', async () => {
  for (let index = 0; index < 3; index++) node.cri.execs.forContainer(`loud-${index}`, { exitCode: 1, stdout: output });
  const endured = await node.during(async () => {
    for (let index = 0; index < 3; index++) {
      const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'yes'] } } };
      node.schedule(`loud-${index}`, {
        restartPolicy: 'Never',
        containers: [aContainer(`loud-${index}`, { lifecycle })],
      });
    }
    await until(
      'the hooks have failed',
      () => [0, 1, 2].every((index) => node.pod(`loud-${index}`)?.status?.phase === 'Failed'),
      { timeoutMs: 60_000, state: () => node.pod('loud-0')?.status },
    );
  });
  assert.ok(JSON.stringify(node.pod('loud-0')?.status).length < 200_000);
  assert.ok(endured.rssPeakKb - endured.rssBeforeKb < 200 * 1024, JSON.stringify(endured));
  for (let index = 0; index < 3; index++) await node.remove(`loud-${index}`);
  await node.memoryReturns(endured.rssBeforeKb + maxKeptKb);
});

test('probes whose command prints 15 MB make short events', async () => {
  const exec: Probe = { exec: { command: ['yes'] }, periodSeconds: 1, failureThreshold: 100 };
  node.cri.execs.forContainer('shouting', { exitCode: 1, stdout: output });
  const { rssBeforeKb } = await node.during(async () => {
    node.schedule('shouting', { containers: [aContainer('shouting', { readinessProbe: exec, livenessProbe: exec })] });
    await until('the probes have failed', () => events('shouting').some(({ reason }) => reason === 'Unhealthy'));
    await clock.sleep(3_000);
  });
  for (const { message = '' } of events('shouting')) assert.ok(message.length <= 12 * 1024, `${message.length}`);
  await node.remove('shouting');
  await node.memoryReturns(rssBeforeKb + maxKeptKb);
});

// The hook threw: its container was only stopped at the next try, and nothing was said of the hook.
test('a preStop hook that has no address to be asked at has failed, and its pod ends', async () => {
  const httpGet: HTTPGetAction = { host: 'a b', port: 80, path: '/' };
  node.schedule('no-address', { containers: [aContainer('main', { lifecycle: { preStop: { httpGet } } })] });
  await node.ready('no-address');
  await node.during(() => node.remove('no-address'));
  const said = events('no-address').map(({ reason, message }) => `${reason}: ${message}`);
  assert.ok(said.includes('FailedPreStopHook: PreStopHook failed'), said.join('\n'));
  assert.ok(!node.agent.text.includes('Invalid URL'));
});

for (const kind of ['body', 'headers', 'informational']) {
  test(`hooks and probes that are answered without end (${kind}) let go`, async (context) => {
    const httpGet: HTTPGetAction = { port: await endlessServer(context, kind), path: '/', host: '127.0.0.1' };
    const name = `endless-${kind}`;
    const { rssBeforeKb } = await node.during(async () => {
      node.schedule(name, {
        containers: [
          aContainer('main', { lifecycle: { postStart: { httpGet } } }),
          aContainer('probed', { readinessProbe: { httpGet, periodSeconds: 1, timeoutSeconds: 5 } }),
        ],
      });
      await until(
        'hook and probe are over',
        () => {
          if (kind === 'body') return node.pod(name)?.status?.containerStatuses?.every(({ ready }) => ready);
          return ['FailedPostStartHook', 'Unhealthy'].every((reason) =>
            events(name).some((event) => event.reason === reason),
          );
        },
        {
          timeoutMs: 30_000,
          state: () => ({ status: node.pod(name)?.status, events: events(name).map((e) => e.reason) }),
        },
      );
    });
    await node.remove(name);
    await node.memoryReturns(rssBeforeKb + maxKeptKb);
    const share = await busyShare();
    assert.ok(share < 0.5, `the agent is busy ${Math.round(share * 100)} % of the time`);
  });
}
