import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../base/ids.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { createProber, withRetries } from './create-prober.ts';
import type { ProbeOutcome, ProbeTarget } from './ports.ts';

const target: ProbeTarget = {
  pod: aPod(),
  container: aContainer('main'),
  containerId: containerId('c0'),
  probe: {},
  podIp: '127.0.0.1',
  timeoutMs: 1_000,
};
const signal = new AbortController().signal;
const error: ProbeOutcome = { kind: 'error', state: 'unknown', error: 'no' };

async function tries(...outcomes: readonly ProbeOutcome[]): Promise<readonly [number, ProbeOutcome]> {
  let made = 0;
  const last = await withRetries(async () => outcomes[Math.min(made++, outcomes.length - 1)]!)(target, signal);
  return [made, last];
}

test('an error is worth three tries, anything else is final', async () => {
  const failure: ProbeOutcome = { kind: 'failure', output: 'sick' };
  const success: ProbeOutcome = { kind: 'success', output: '' };
  assert.deepEqual(await tries(error), [3, error]);
  assert.deepEqual(await tries(error, success), [2, success]);
  assert.deepEqual(await tries(error, error, failure), [3, failure]);
  assert.deepEqual(await tries(failure), [1, failure]);
  assert.deepEqual(await tries({ kind: 'inconclusive', reason: '' }), [1, { kind: 'inconclusive', reason: '' }]);
});

test('an abort between tries ends them', async () => {
  const stop = new AbortController();
  let made = 0;
  const prober = withRetries(async () => {
    made++;
    stop.abort();
    return error;
  });
  await assert.rejects(prober(target, stop.signal));
  assert.equal(made, 1);
});

test('a probe without a handler is an error', async () => {
  const clock = new FakeClock();
  const prober = createProber({ clock, runtime: createFakeCri({ clock }) });
  assert.deepEqual(await prober(target, signal), {
    kind: 'error',
    state: 'unknown',
    error: 'missing probe handler for web_default(uid-1):main',
  });
});

test('each kind of probe finds its prober', async () => {
  const clock = new FakeClock();
  const prober = createProber({ clock, runtime: createFakeCri({ clock }) });
  const noAddress = (probe: ProbeTarget['probe']): Promise<ProbeOutcome> =>
    prober({ ...target, probe, podIp: undefined }, signal);
  for (const probe of [{ httpGet: { port: 80 } }, { tcpSocket: { port: 80 } }, { grpc: { port: 80 } }]) {
    assert.equal((await noAddress(probe)).kind, 'inconclusive');
  }
  const exec = await noAddress({ exec: { command: ['true'] } });
  assert.equal(exec.kind, 'error', 'there is no such container');
});
