import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { noCalls } from '../base/calls.ts';
import { silentLog } from '../base/log.ts';
import { systemClock } from '../base/system-clock.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { createFakeCri, serveFakeCri } from '../testing/fake-cri/index.ts';
import { connectCri, handshake } from './index.ts';

test('identifies the runtime', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.health.name = 'containerd';
  fake.health.version = '1.6.20';
  assert.deepEqual(await handshake(fake), { name: 'containerd', version: '1.6.20', apiVersion: 'v1' });
  assert.deepEqual(fake.calls[0]?.request, { version: '0.1.0' });
});

test('refuses another protocol', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.health.protocol = '9.0.0';
  await assert.rejects(handshake(fake), { kind: 'unsupported', message: /speaks another protocol.*"9\.0\.0"/ });
});

test('refuses a runtime without CRI v1 with a hint to the operator', async (context) => {
  const clock = systemClock();
  const folder = await mkdtemp(join(tmpdir(), 'cri-handshake-'));
  const path = join(folder, 'old.sock');
  const served = await serveFakeCri(createFakeCri({ clock }), path, { services: [] });
  const cri = connectCri({ calls: noCalls, endpoint: path, clock, log: silentLog, timeouts: { requestMs: 20_000 } });
  context.after(async () => {
    cri.close();
    await served.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await assert.rejects(handshake(cri), (error: unknown) => {
    const text = String(error);
    assert.ok(text.includes(`the runtime at unix://${path} speaks no CRI v1`), text);
    assert.match(text, /disabled_plugins/);
    return true;
  });
});

test('a runtime that does not answer is a timeout worth another try', async () => {
  const clock = new FakeClock();
  const fake = createFakeCri({ clock });
  fake.faults.hang('version');
  const rejected = assert.rejects(handshake(fake, { timeoutMs: 5_000 }), { kind: 'timeout', message: /is it running/ });
  await clock.advance(5_000);
  await rejected;
});
