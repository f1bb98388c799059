import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import type { NodeAddress } from '../../gen/kubernetes/types.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryCertificateFiles } from '../../testing/memory-certificate-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { quickKey, SigningApi } from '../../testing/signing-api.ts';
import { CertificateStore } from './certificate-store.ts';
import { ClientCertificateManager } from './client-certificate-manager.ts';
import { clientShape } from './csr-shape.ts';
import { IssuedServingCertificate } from './issued-serving-certificate.ts';
import { requestCertificate } from './request-certificate.ts';

const minute = 60_000;
const day = 86_400_000;

async function setUp(purpose: 'client' | 'server') {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const files = new MemoryCertificateFiles();
  const api = await SigningApi.create(clock);
  api.lifetimeMs = 2 * day;
  const store = new CertificateStore({ files, log, folder: '/pki', purpose });
  const registry = new Registry();
  const value = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, 'm').exec(registry.render())?.[1];
  return {
    clock,
    random: seededRandom(3),
    log,
    files,
    api,
    store,
    metrics: registry,
    nodeName: 'worker-1',
    newKey: quickKey,
    value,
  };
}

type World = Awaited<ReturnType<typeof setUp>>;

async function giveCertificate({ clock, random, log, api, store }: World): Promise<void> {
  const asked = { key: await quickKey(), shape: clientShape('worker-1') };
  const pair = await requestCertificate({ clock, random, log, api }, asked, {
    signal: new AbortController().signal,
    waitMs: 0,
  });
  await store.write(pair, clock.now());
}

async function startClient(
  context: TestContext,
  options: { readonly bootstrap?: boolean; readonly lifetimeMs?: number } = {},
) {
  const world = await setUp('client');
  world.api.lifetimeMs = options.lifetimeMs ?? 2 * day;
  await giveCertificate(world);
  let rotations = 0;
  let opened = 0;
  const manager = new ClientCertificateManager({
    heartbeats: new Heartbeats(),
    ...world,
    onRotated: () => rotations++,
    ...(options.bootstrap === true && {
      bootstrap: async () => {
        opened++;
        return { api: world.api, close: async () => void opened-- };
      },
    }),
  });
  await manager.start(new AbortController().signal);
  context.after(() => manager.stop());
  return { ...world, manager, rotations: () => rotations, opened: () => opened };
}

const clientErrors = 'kubelet_certificate_manager_client_expiration_renew_errors';
const clientSeconds = 'kubelet_certificate_manager_client_ttl_seconds';

test('a client certificate is renewed late in its life, again and again', async (context) => {
  const { clock, api, manager, rotations, store, value } = await startClient(context);
  const began = clock.now();
  assert.equal(Number(value(clientSeconds)), (2 * day) / 1_000);
  await clock.advance(1.25 * day);
  assert.equal(rotations(), 0);
  assert.equal(Number(value(clientSeconds)), (0.75 * day) / 1_000);
  await clock.runUntil(() => rotations() === 1, day);
  const age = clock.now() - began;
  assert.ok(age >= 1.4 * day && age <= 1.8 * day, String(age / day));
  assert.equal((await store.read())?.fingerprint, manager.current()?.fingerprint);
  await clock.advance(24 * day);
  assert.ok(rotations() >= 13 && rotations() <= 18, String(rotations()));
  assert.equal(api.creations, rotations() + 1);
  assert.equal(value(clientErrors) ?? '0', '0');
  assert.ok((manager.current()?.notAfter ?? 0) > clock.now());
});

test('failures are tried again after 2, 4, 8, 16 and then every 32 seconds, and counted', async (context) => {
  const { clock, api, rotations, log, value } = await startClient(context);
  api.away = true;
  await clock.runUntil(() => log.messages('error').length === 1, 2 * day);
  const began = clock.monotonic();
  const times: number[] = [];
  for (let failures = 2; failures <= 8; failures++) {
    await clock.runUntil(() => log.messages('error').length === failures, 5 * minute);
    times.push(clock.monotonic() - began);
  }
  const steps = times.map((time, index) => Math.floor((time - (times[index - 1] ?? 0)) / 1_000));
  assert.deepEqual(
    steps.map(
      (seconds, index) => seconds >= Math.min(2 ** (index + 1), 32) && seconds <= Math.min(2 ** (index + 1), 32) * 1.11,
    ),
    steps.map(() => true),
    steps.join(),
  );
  assert.equal(value(clientErrors), '8');
  api.away = false;
  await clock.runUntil(() => rotations() === 1, minute);
  assert.equal(value(clientErrors), '8');
});

test('one request is asked about again and again, however long its approval takes', async (context) => {
  const { clock, api, rotations, value } = await startClient(context);
  api.mood = 'ignore';
  await clock.runUntil(() => api.creations === 2, 2 * day);
  await clock.advance(60 * minute);
  assert.equal(api.creations, 2);
  assert.equal(value(clientErrors), '3', 'each quarter of an hour in vain is a failure');
  api.mood = 'sign';
  await clock.runUntil(() => rotations() === 1, minute);
  assert.equal(api.creations, 2);
});

test('a denied request is not repeated until it is deleted', async (context) => {
  const { clock, api, rotations, log } = await startClient(context);
  api.mood = 'deny';
  await clock.runUntil(() => log.messages('error').length === 5, 2 * day);
  assert.equal(api.creations, 2);
  assert.match(
    String(log.entries.findLast(({ severity }) => severity === 'error')?.error),
    /was denied.*kubectl delete csr/,
  );
  api.mood = 'sign';
  await clock.advance(10 * minute);
  assert.equal(rotations(), 0);
  api.requests.clear();
  await clock.runUntil(() => rotations() === 1, minute);
  assert.equal(api.creations, 3);
});

test('a certificate of another key is not stored, and another one is requested', async (context) => {
  const { clock, api, rotations, manager, log, store } = await startClient(context);
  const before = manager.current()?.fingerprint;
  api.mood = 'otherKey';
  await clock.runUntil(() => log.messages('error').length === 3, 2 * day);
  assert.equal((await store.read())?.fingerprint, before);
  assert.equal(api.creations, 4);
  api.mood = 'sign';
  await clock.runUntil(() => rotations() === 1, minute);
});

test('a disk that fails costs no second request', async (context) => {
  const { clock, api, rotations, files, log } = await startClient(context);
  files.changesLeft = 1;
  await clock.runUntil(() => log.messages('error').length === 2, 2 * day);
  assert.equal(rotations(), 0);
  files.changesLeft = Number.POSITIVE_INFINITY;
  await clock.runUntil(() => rotations() === 1, minute);
  assert.equal(api.creations, 2);
});

test('when it has expired the bootstrap credentials help, or an operator must', async (context) => {
  const helped = await startClient(context, { bootstrap: true, lifetimeMs: 30 * minute });
  helped.api.away = true;
  await helped.clock.advance(31 * minute);
  assert.match(helped.value(clientSeconds) ?? '', /^-\d+$/);
  assert.equal(helped.rotations(), 0);
  helped.api.away = false;
  await helped.clock.runUntil(() => helped.rotations() === 1, minute);
  assert.ok(helped.log.messages('warn').some((message) => message.includes('bootstrap credentials')));
  assert.equal(helped.opened(), 0);

  const alone = await startClient(context, { lifetimeMs: 30 * minute });
  alone.api.away = true;
  await alone.clock.advance(31 * minute);
  alone.api.away = false;
  await alone.clock.advance(minute);
  assert.equal(alone.rotations(), 0);
  assert.match(
    String(alone.log.entries.at(-1)?.error),
    /has expired; put a valid one there, or start the agent with --bootstrap-kubeconfig/,
  );
  // An operator does.
  await giveCertificate(alone);
  await alone.clock.advance(minute);
  assert.equal(alone.rotations(), 1);
});

test('a signer that backdates is not asked again at once', async (context) => {
  const { clock, api, rotations } = await startClient(context);
  api.lifetimeMs = 10 * minute;
  api.backdateMs = day;
  await clock.runUntil(() => rotations() === 1, 2 * day);
  await clock.advance(6 * minute);
  assert.equal(rotations(), 1);
  await clock.runUntil(() => rotations() === 2, 4 * minute);
});

test('it stops in the middle of anything', async (context) => {
  const { clock, api, manager } = await startClient(context);
  api.mood = 'ignore';
  await clock.runUntil(() => api.creations === 2, 2 * day);
  await manager.stop();
  assert.equal(clock.pending(), 0);
});

test('a serving certificate follows the addresses of the node', async (context) => {
  const world = await setUp('server');
  const { clock, api, value } = world;
  let addresses: readonly NodeAddress[] = [{ type: 'Hostname', address: 'worker-1' }];
  const serving = new IssuedServingCertificate({ heartbeats: new Heartbeats(), ...world, addresses: () => addresses });
  const seen: string[] = [];
  serving.onChange(({ version }) => seen.push(version));
  await serving.start(new AbortController().signal);
  context.after(() => serving.stop());
  await clock.advance(minute);
  assert.equal(api.creations, 0, 'no address yet');
  assert.equal(value('kubelet_certificate_manager_server_ttl_seconds'), '+Inf');

  addresses = [...addresses, { type: 'InternalIP', address: '10.0.0.7' }];
  serving.addressesChanged();
  await clock.runUntil(() => serving.current() !== undefined, minute);
  const first = serving.current();
  assert.deepEqual(seen, [first?.version]);
  assert.ok(world.files.links.has('/pki/kubelet-server-current.pem'));

  serving.addressesChanged();
  await clock.advance(day);
  assert.equal(api.creations, 1, 'the same addresses are no reason');

  // Without an approval; meanwhile the node moves on, and the first request is not waited for any more.
  api.mood = 'ignore';
  addresses = [{ type: 'InternalIP', address: 'fd00::8' }];
  serving.addressesChanged();
  await clock.advance(minute);
  assert.equal(api.creations, 2);
  addresses = [{ type: 'InternalIP', address: '10.0.0.9' }];
  await clock.advance(minute);
  assert.equal(api.creations, 3);
  assert.equal(serving.current(), first);
  api.mood = 'sign';
  await clock.runUntil(() => serving.current() !== first, minute);
  assert.equal((await world.store.read())?.leaf.subjectAltName, 'IP Address:10.0.0.9');
  assert.equal(seen.length, 2);
  assert.match(world.metrics.render(), /kubelet_certificate_manager_server_rotation_seconds_count 1/);
});
