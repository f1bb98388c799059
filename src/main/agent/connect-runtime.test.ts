import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { CgroupDriver } from '../../gen/cri/api.ts';
import { Registry } from '../../telemetry/index.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { cgroupDriverOf } from './connect-runtime.ts';

type Answer = { readonly linux?: { readonly cgroupDriver: number } } | TubeletError;

/** A runtime that gives these answers, the last one again and again. */
function asked(...answers: readonly Answer[]) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const metrics = new Registry();
  const cri = createFakeCri({ clock });
  let calls = 0;
  const runtimeConfig = async () => {
    const answer = answers[Math.min(calls++, answers.length - 1)] ?? {};
    if (answer instanceof TubeletError) throw answer;
    return { linux: answer.linux && { cgroupDriver: answer.linux.cgroupDriver as CgroupDriver } };
  };
  const { signal } = new AbortController();
  const driver = cgroupDriverOf({ clock, log, cri: { ...cri, runtimeConfig }, signal, metrics }, 'systemd');
  return { clock, log, metrics, driver, calls: () => calls };
}

test('the driver that the runtime names takes precedence', async () => {
  const { driver, log } = asked({ linux: { cgroupDriver: 1 } });
  assert.equal(await driver, 'cgroupfs');
  assert.deepEqual(log.messages('info'), ['Using cgroup driver setting received from the CRI runtime']);
  assert.equal(await asked({ linux: { cgroupDriver: 0 } }).driver, 'systemd');
});

test('a runtime that names none leaves the configured one', async () => {
  assert.equal(await asked({}).driver, 'systemd');
});

test('an unknown driver is an error', async () => {
  const { driver, calls } = asked({ linux: { cgroupDriver: 7 } });
  await assert.rejects(driver, { message: 'runtime returned an unknown cgroup driver 7' });
  assert.equal(calls(), 1);
});

test('an old runtime is reported, and the configured driver is used', async () => {
  const { driver, log, metrics } = asked(new TubeletError('unsupported', 'unknown method RuntimeConfig'));
  assert.equal(await driver, 'systemd');
  assert.match(metrics.render(), /^kubelet_cri_losing_support\{version="1.38.0"\} 1$/m);
  assert.match(log.messages('info').join(), /should be updated to support RuntimeConfig\. Falling back to using/);
});

test('a failure is tried again twice', async () => {
  const down = new TubeletError('unavailable', 'no runtime');
  const first = asked(down, down, { linux: { cgroupDriver: 1 } });
  await first.clock.advance(4_000);
  assert.equal(await first.driver, 'cgroupfs');
  const second = asked(down);
  const refused = assert.rejects(second.driver, /no runtime/);
  await second.clock.advance(4_000);
  await refused;
  assert.equal(second.calls(), 3);
});
