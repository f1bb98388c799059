import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { StatusResponse } from '../../gen/cri/api.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryDecisions } from '../../testing/memory-decisions.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { computeRuntimeFacts } from './compute-runtime-facts.ts';
import { RuntimeHealth } from './runtime-health.ts';

const condition = (type: string, status: boolean, reason = '', message = '') => ({ type, status, reason, message });
const ready = [condition('RuntimeReady', true), condition('NetworkReady', true)];
const noNetwork = condition('NetworkReady', false, 'NetworkPluginNotReady', 'cni plugin not initialized');
const answer = (conditions: readonly ReturnType<typeof condition>[]): StatusResponse =>
  StatusResponse.fromPartial({ status: { conditions: [...conditions] } });

test('an answer in the words of the node and its pods', () => {
  const cases: readonly (readonly [StatusResponse, runtime: string | undefined, network: string | undefined])[] = [
    [answer(ready), undefined, undefined],
    [
      answer([condition('RuntimeReady', true), noNetwork]),
      undefined,
      'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
    ],
    [
      answer([condition('RuntimeReady', false, 'Broken', 'no disk'), condition('NetworkReady', true)]),
      'container runtime not ready: RuntimeReady=false reason:Broken message:no disk',
      undefined,
    ],
    [
      StatusResponse.fromPartial({}),
      'container runtime not ready: <nil>',
      'container runtime network not ready: <nil>',
    ],
  ];
  for (const [response, runtime, network] of cases) {
    const facts = computeRuntimeFacts(response);
    assert.deepEqual([facts.runtimeError, facts.networkError], [runtime, network]);
  }
});

test('features that are not reported are missing', () => {
  const old = computeRuntimeFacts(answer(ready));
  assert.equal(old.handlers.size, 0);
  assert.equal(old.features.supplementalGroupsPolicy, false);
  const features = { recursiveReadOnlyMounts: true, userNamespaces: false };
  const facts = computeRuntimeFacts(
    StatusResponse.fromPartial({
      runtimeHandlers: [{ name: '', features }, { name: 'kata' }],
      features: { supplementalGroupsPolicy: true },
    }),
  );
  assert.deepEqual(facts.handlers.get(''), features);
  assert.deepEqual(facts.handlers.get('kata'), { recursiveReadOnlyMounts: false, userNamespaces: false });
  assert.equal(facts.features.supplementalGroupsPolicy, true);
});

class Runtime {
  calls = 0;
  said: StatusResponse | Error = answer(ready);

  async status(): Promise<StatusResponse> {
    this.calls++;
    if (this.said instanceof Error) throw this.said;
    return this.said;
  }
}

async function started(said: Runtime['said']) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const runtime = new Runtime();
  runtime.said = said;
  let changes = 0;
  const statusDue = { mark: () => void changes++ };
  const decisions = new MemoryDecisions();
  const health = new RuntimeHealth({
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log,
    runtime,
    decisions,
    statusDue,
  });
  assert.deepEqual(health.runtimeErrors(), ['container runtime status check may not have completed yet']);
  assert.equal(health.networkError(), 'network state unknown');
  await health.start(new AbortController().signal);
  return { clock, log, runtime, health, decisions, changes: () => changes };
}

test('the first answer is there when the start returns, then one is asked for every five seconds', async () => {
  const { clock, runtime, health } = await started(answer(ready));
  assert.deepEqual(health.runtimeErrors(), []);
  assert.equal(health.networkError(), undefined);
  assert.equal(runtime.calls, 1);
  await clock.advance(5_000);
  assert.equal(runtime.calls, 2);
  await health.stop();
});

test('until all is ready for the first time the runtime is asked ten times a second, for two minutes', async () => {
  const { clock, runtime, health, changes } = await started(answer([condition('RuntimeReady', true), noNetwork]));
  await clock.advance(1_000);
  assert.equal(runtime.calls, 11);
  runtime.said = answer(ready);
  await clock.advance(100);
  assert.equal(health.networkError(), undefined);
  assert.equal(changes(), 2);
  await clock.advance(4_900);
  assert.equal(runtime.calls, 12);
  await health.stop();
});

test('thirty seconds without a good answer', async () => {
  const { clock, runtime, health, log } = await started(answer(ready));
  runtime.said = new Error('connection refused');
  await clock.advance(29_000);
  assert.deepEqual(health.runtimeErrors(), []);
  assert.ok(log.entries.some(({ message }) => message === 'Container runtime sanity check failed'));
  await clock.advance(1_000);
  assert.deepEqual(health.runtimeErrors(), ['container runtime is down']);
  runtime.said = answer(ready);
  await clock.advance(5_000);
  assert.deepEqual(health.runtimeErrors(), []);
  await health.stop();
});

test('a runtime that reports not ready is down after a while too', async () => {
  const { clock, runtime, health } = await started(answer(ready));
  runtime.said = answer([condition('RuntimeReady', false, 'R', 'm'), condition('NetworkReady', true)]);
  await clock.advance(5_000);
  const word = 'container runtime not ready: RuntimeReady=false reason:R message:m';
  assert.deepEqual(health.runtimeErrors(), [word]);
  await clock.advance(25_000);
  assert.deepEqual(health.runtimeErrors(), ['container runtime is down', word]);
  await health.stop();
});

test('problems of the runtime, and their end, are recorded with the node', async () => {
  const { clock, runtime, health, decisions } = await started(answer([condition('RuntimeReady', true), noNetwork]));
  await clock.advance(1_000);
  assert.deepEqual(
    decisions.take().map((line) => line.replace(/:.*/, '')),
    ['node wait NetworkNotReady'],
  );
  runtime.said = answer(ready);
  await clock.advance(20_000);
  assert.deepEqual(decisions.take(), ['node start RuntimeReady: the container runtime is ready for pods']);
  runtime.said = new Error('connection refused');
  await clock.advance(5_000);
  assert.equal(decisions.entries[0]?.decision.nextTryInMs, 5_000);
  assert.deepEqual(decisions.take(), ['node retry RuntimeStatusFailed: connection refused']);
  await health.stop();
});
