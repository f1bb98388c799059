import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

const asking = (command: string, more: object = {}) => ({
  exec: { command: [command] },
  periodSeconds: 2,
  timeoutSeconds: 1,
  failureThreshold: 3,
  successThreshold: 1,
  ...more,
});

/** Answers of commands in containers, changed by the test while it runs. */
async function world(answers: Record<string, number>): Promise<AgentWorld> {
  const it = new AgentWorld();
  it.cri.execs.on(([command = '']) => ({ exitCode: answers[command] ?? 0, stdout: answers[command] ? 'sick\n' : '' }));
  await it.start();
  return it;
}

const podWith = (probes: object): DesiredPod => aPod({ spec: { containers: [aContainer('main', probes)] } });

describe('readiness', () => {
  test('is not there before the first success, comes at once with it, and goes after three failures', async () => {
    const answers = { ready: 1 };
    const it = await world(answers);
    await it.manifests(podWith({ readinessProbe: asking('ready') }));
    await it.clock.advance(1_500);
    assert.equal(it.phase(), 'Running');
    assert.equal(it.isReady(), false);
    answers.ready = 0;
    await it.clock.advance(2_100);
    assert.equal(it.isReady(), true);
    answers.ready = 1;
    await it.clock.advance(4_000);
    assert.equal(it.isReady(), true, 'two failures do not count');
    await it.clock.advance(4_000);
    assert.equal(it.isReady(), false);
    assert.deepEqual(it.containers(), ['main#0 running']);
    assert.ok(
      it.events.some(({ reason, message }) => reason === 'Unhealthy' && message === 'Readiness probe failed: sick\n'),
    );
    await it.stop();
  });
});

describe('liveness', () => {
  test('one that keeps failing backs off like any crash loop', async () => {
    const it = await world({ alive: 1 });
    await it.manifests(podWith({ livenessProbe: asking('alive', { failureThreshold: 1 }) }));
    await it.clock.advance(120_000);
    const starts = it.verbs().filter((verb) => verb === 'startContainer').length;
    assert.ok(starts >= 3 && starts <= 6, `${starts} starts in two minutes`);
    await it.stop();
  });

  test('one that was killed and must wait says so at once, and no older instance is kept', async () => {
    const it = await world({ alive: 1 });
    await it.manifests(podWith({ livenessProbe: asking('alive', { failureThreshold: 1, initialDelaySeconds: 1 }) }));
    const said = (): string => {
      const { running, waiting, terminated } = it.status('uid-1')?.containerStatuses?.[0]?.state ?? {};
      return running ? 'running' : (terminated?.reason ?? waiting?.reason ?? 'nothing');
    };
    const seen: string[] = [];
    while (seen.at(-1) !== 'CrashLoopBackOff' && seen.length < 20) {
      await it.clock.advance(10);
      if (seen.at(-1) !== said()) seen.push(said());
    }
    assert.equal(seen.includes('Error'), false, seen.join(', '));
    await it.clock.advance(1_100);
    assert.equal(it.containers().length, 1);
    await it.stop();
  });
});

test('thirty ready pods, five restarts of the agent: no container restarts, not one readiness transition', async () => {
  const it = await world({});
  const pods = Array.from({ length: 30 }, (_, index) =>
    aPod({
      uid: `uid-${index}`,
      name: `pod-${index}`,
      spec: { containers: [aContainer('main', { readinessProbe: asking('ready', { periodSeconds: 10 }) })] },
    }),
  );
  await it.manifests(...pods);
  await it.clock.advance(12_000);
  assert.ok(pods.every(({ uid }) => it.isReady(uid)));
  const calls = it.verbs().filter((verb) => verb !== 'execSync');
  it.statusHistory.clear();
  for (let round = 0; round < 5; round++) {
    await it.stop();
    await it.clock.advance(7_000);
    await it.start();
    await it.clock.advance(25_000);
  }
  assert.deepEqual(
    it.verbs().filter((verb) => verb !== 'execSync'),
    calls,
  );
  const flips = [...it.statusHistory.values()]
    .flat()
    .filter(({ conditions }) => conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True'));
  assert.deepEqual(flips, []);
  assert.ok(pods.every(({ uid }) => it.isReady(uid)));
  await it.stop();
});
