import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { noCalls } from '../base/calls.ts';
import { isKind } from '../base/errors.ts';
import { silentLog } from '../base/log.ts';
import { systemClock } from '../base/system-clock.ts';
import { ImageSpec, PodSandboxConfig } from '../gen/cri/api.ts';
import { createFakeCri, serveFakeCri, type FakeCri, type ServedFakeCri } from '../testing/fake-cri/index.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aPod, runContainer, runSandbox, testImage } from '../testing/pods.ts';
import { connectCri, handshake, type Cri } from './index.ts';

const clock = systemClock();
const timeouts = { requestMs: 20_000 };
let folder = '';
let sockets = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cri-'));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Served {
  readonly fake: FakeCri;
  readonly served: ServedFakeCri;
  readonly cri: Cri;
}

async function serve(context: TestContext, services?: ('runtime' | 'images')[]): Promise<Served> {
  const fake = createFakeCri({ clock });
  const path = join(folder, `${++sockets}.sock`);
  const served = await serveFakeCri(fake, path, services === undefined ? {} : { services });
  const cri = connectCri({ calls: noCalls, endpoint: served.endpoint, clock, log: silentLog, timeouts });
  context.after(async () => {
    cri.close();
    await served.stop();
  });
  return { fake, served, cri };
}

/** Asks until the runtime answers; the client itself fails fast. */
async function untilAnswer(cri: Cri): Promise<void> {
  const deadline = clock.monotonic() + 15_000;
  for (;;) {
    try {
      await cri.version({ version: '' });
      return;
    } catch (error) {
      assert.ok(isKind(error, 'unavailable'), String(error));
      assert.ok(clock.monotonic() < deadline, 'no reconnection within 15 s');
      await clock.sleep(20);
    }
  }
}

test('reconnects to a runtime that restarted', async (context) => {
  const { served, cri } = await serve(context);
  await cri.version({ version: '' });
  await served.stop();
  await assert.rejects(cri.version({ version: '' }), { kind: 'unavailable' });
  await served.start();
  await untilAnswer(cri);
});

test('a missing runtime is unavailable at once, and found when it starts', async (context) => {
  const path = join(folder, `${++sockets}.sock`);
  const cri = connectCri({ calls: noCalls, endpoint: `unix://${path}`, clock, log: silentLog, timeouts });
  context.after(() => cri.close());
  await assert.rejects(handshake(cri), (error: unknown) => {
    assert.ok(isKind(error, 'unavailable'));
    assert.ok(String(error).includes(`cannot reach the runtime at unix://${path}, is it running?`), String(error));
    return true;
  });
  const served = await serveFakeCri(createFakeCri({ clock }), path);
  context.after(() => served.stop());
  await untilAnswer(cri);
});

test('giving a call up reaches the runtime', async (context) => {
  const { fake, cri } = await serve(context);
  const given = new Promise<void>((resolve) => {
    fake.faults.hang('listImages');
    const handle = fake.engine.handle.bind(fake.engine);
    fake.engine.handle = async (verb, request, signal) => {
      signal.addEventListener('abort', () => resolve());
      return handle(verb, request, signal);
    };
  });
  const controller = new AbortController();
  const call = cri.listImages({ filter: undefined }, { signal: controller.signal });
  const rejected = assert.rejects(call, { kind: 'cancelled' });
  while (fake.calls.length === 0) await clock.sleep(5);
  controller.abort();
  await rejected;
  await given;
});

test('the texts of the runtime arrive unharmed', async (context) => {
  const { fake, cri } = await serve(context);
  const message = 'disk 100% full: "ünïcode"\nsecond line %41';
  fake.faults.fail('listContainers', 'exhausted', { message });
  const call = cri.listContainers({ filter: undefined });
  await assert.rejects(call, { kind: 'exhausted', message: `listContainers: ${message}` });
});

test('lists of many megabytes arrive, larger ones than 32 do not', async (context) => {
  const { fake, cri } = await serve(context);
  const sandbox = (size: number) =>
    PodSandboxConfig.fromPartial({
      metadata: { name: `pod-${size}`, namespace: 'ns', uid: 'uid' },
      annotations: { large: 'x'.repeat(size) },
    });
  await fake.runPodSandbox({ config: sandbox(10_000_000), runtimeHandler: '' });
  const { items } = await cri.listPodSandbox({ filter: undefined });
  assert.equal(items[0]?.annotations['large']?.length, 10_000_000);
  await fake.runPodSandbox({ config: sandbox(11_000_000), runtimeHandler: '' });
  assert.equal((await cri.listPodSandbox({ filter: undefined })).items.length, 2);
  await fake.runPodSandbox({ config: sandbox(13_000_000), runtimeHandler: '' });
  await assert.rejects(cri.listPodSandbox({ filter: undefined }), { kind: 'exhausted' });
});

test('any other answer has 16 MiB at the utmost', async (context) => {
  const { fake, cri } = await serve(context);
  fake.images.add(testImage);
  const container = await runContainer(fake, aPod(), await runSandbox(fake, aPod()));
  const run = () => cri.execSync({ containerId: container, cmd: ['x'], timeout: 0n });
  fake.execs.forContainer('main', { stdout: 'x'.repeat(15_000_000) }, { stdout: 'x'.repeat(17_000_000) });
  assert.equal((await run()).stdout.length, 15_000_000);
  await assert.rejects(run(), { kind: 'exhausted' });
});

test('images may be served elsewhere', async (context) => {
  const runtime = await serve(context, ['runtime']);
  const images = await serve(context, ['images']);
  images.fake.images.add('example.com/a:1');
  const { endpoint } = runtime.served;
  const cri = connectCri({
    calls: noCalls,
    endpoint,
    imageEndpoint: images.served.endpoint,
    clock,
    log: silentLog,
    timeouts,
  });
  context.after(() => cri.close());
  assert.equal((await handshake(cri)).name, 'fake');
  const image = ImageSpec.fromPartial({ image: 'example.com/a:1' });
  assert.notEqual((await cri.imageStatus({ image, verbose: false })).image, undefined);
  await assert.rejects(runtime.cri.imageStatus({ image, verbose: false }), { kind: 'unsupported' });
});

test('closing cancels running calls', async (context) => {
  const { fake, cri } = await serve(context);
  fake.faults.hang('status');
  const call = assert.rejects(cri.status({ verbose: false }), { kind: 'cancelled' });
  const events = (async () => {
    for await (const event of cri.containerEvents(new AbortController().signal)) assert.fail(JSON.stringify(event));
  })();
  const ended = assert.rejects(events, { kind: 'cancelled' });
  while (fake.calls.length === 0 || fake.events.listeners() === 0) await clock.sleep(5);
  cri.close();
  await Promise.all([call, ended]);
});

test('the event stream ends with its signal and breaks with the runtime', async (context) => {
  const { fake, served, cri } = await serve(context);
  const controller = new AbortController();
  const collect = async (signal: AbortSignal): Promise<number> => {
    let count = 0;
    for await (const event of cri.containerEvents(signal)) count += event.containerId === '' ? 0 : 1;
    return count;
  };
  const quiet = collect(controller.signal);
  const broken = collect(new AbortController().signal);
  const rejected = assert.rejects(broken, { kind: 'unavailable' });
  while (fake.events.listeners() < 2) await clock.sleep(5);
  const metadata = { name: 'pod', namespace: 'ns', uid: 'uid' };
  await cri.runPodSandbox({ config: PodSandboxConfig.fromPartial({ metadata }), runtimeHandler: '' });
  controller.abort();
  assert.ok((await quiet) <= 2);
  await served.stop();
  await rejected;
});

test('running calls and streams are unavailable when the runtime is killed', async (context) => {
  const { fake, served } = await serve(context);
  fake.faults.hang('status');
  // A socket in between that can be torn as a killed process tears it: without a word.
  const path = join(folder, `${++sockets}.sock`);
  const ends = new Set<Socket>();
  const between = createServer((near) => {
    const far = connect(served.endpoint.slice('unix://'.length));
    for (const socket of [near, far]) ends.add(socket.on('error', () => {}));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => between.listen(path, resolve));
  const cri = connectCri({ calls: noCalls, endpoint: `unix://${path}`, clock, log: silentLog, timeouts });
  context.after(() => {
    cri.close();
    between.close();
  });
  const call = assert.rejects(cri.status({ verbose: false }), { kind: 'unavailable' });
  const events = (async () => {
    for await (const event of cri.containerEvents(new AbortController().signal)) assert.fail(JSON.stringify(event));
  })();
  const ended = assert.rejects(events, { kind: 'unavailable' });
  while (fake.calls.length === 0 || fake.events.listeners() === 0) await clock.sleep(5);
  for (const socket of ends) socket.destroy();
  await Promise.all([call, ended]);
});

test('a bare path is warned of once', (context) => {
  const log = new MemoryLog();
  const path = join(folder, 'bare.sock');
  const cri = connectCri({ calls: noCalls, endpoint: path, imageEndpoint: '', clock, log, timeouts });
  context.after(() => cri.close());
  assert.equal(cri.endpoint, `unix://${path}`);
  assert.equal(log.messages('warn').length, 1);
});
