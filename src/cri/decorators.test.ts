import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCalls } from '../base/calls.ts';
import { isKind, TubeletError } from '../base/errors.ts';
import { silentLog } from '../base/log.ts';
import type { Tracer } from '../base/tracing.ts';
import { AuthConfig, ContainerConfig, ImageSpec, PodSandboxConfig } from '../gen/cri/api.ts';
import { MemoryCalls } from '../testing/memory-calls.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { criOver, type Cri, type CriTransport } from './cri.ts';
import type { Invocation } from './invoke.ts';

type AnyInvocation = Invocation<unknown, unknown>;

/** A transport with the answers of the test. */
function transport(answer: (invocation: AnyInvocation) => Promise<unknown>): CriTransport {
  return {
    endpoint: 'test',
    invoke: (invocation) => answer(invocation as unknown as AnyInvocation) as Promise<never>,
    events: async function* () {},
    close() {},
  };
}

const nothing = { podSandboxId: 'sandbox', containerId: 'container', timeout: 0n, cmd: [], verbose: false };

test('deadlines: the request timeout for most verbs, its derivatives for some, none for a few', async () => {
  const never = (): Promise<unknown> => new Promise(() => {});
  const second = 1_000;
  const image = ImageSpec.fromPartial({ image: 'x' });
  const cases: readonly (readonly [string, number | undefined, (cri: Cri) => Promise<unknown>])[] = [
    ['version', 120, (cri) => cri.version({ version: '' })],
    ['listContainers', 120, (cri) => cri.listContainers({ filter: undefined })],
    [
      'createContainer',
      120,
      (cri) => cri.createContainer({ podSandboxId: '', config: undefined, sandboxConfig: undefined }),
    ],
    ['removePodSandbox', 120, (cri) => cri.removePodSandbox(nothing)],
    ['runPodSandbox', 240, (cri) => cri.runPodSandbox({ config: undefined, runtimeHandler: '' })],
    ['stopPodSandbox', 240, (cri) => cri.stopPodSandbox(nothing)],
    ['stopContainer', 150, (cri) => cri.stopContainer({ ...nothing, timeout: 30n })],
    ['stopContainer at once', 120, (cri) => cri.stopContainer({ ...nothing, timeout: -1n })],
    ['execSync', 125, (cri) => cri.execSync({ ...nothing, timeout: 5n })],
    ['execSync without timeout', undefined, (cri) => cri.execSync({ ...nothing, timeout: 0n })],
    ['pullImage', undefined, (cri) => cri.pullImage({ image, auth: undefined, sandboxConfig: undefined })],
    ['short checkpoint', 120, (cri) => cri.checkpointContainer({ ...nothing, location: '', timeout: 5n })],
    ['long checkpoint', 500, (cri) => cri.checkpointContainer({ ...nothing, location: '', timeout: 500n })],
    [
      'the caller decides',
      7,
      (cri) => cri.pullImage({ image, auth: undefined, sandboxConfig: undefined }, { timeoutMs: 7_000 }),
    ],
  ];
  for (const [name, seconds, call] of cases) {
    const clock = new FakeClock();
    const cri = criOver(transport(never), {
      calls: noCalls,
      clock,
      log: silentLog,
      timeouts: { requestMs: 120 * second },
    });
    const outcome = call(cri).then(
      () => 'answer',
      (error: unknown) => error,
    );
    assert.equal(clock.nextDue(), seconds === undefined ? undefined : seconds * second, name);
    if (seconds === undefined) continue;
    await clock.advance(seconds * second);
    const error = await outcome;
    assert.ok(isKind(error, 'timeout'), name);
    assert.match(String(error), new RegExp(`no answer within ${seconds} s`));
  }
});

test('a finished call leaves neither timer nor listener', async () => {
  const clock = new FakeClock();
  const cri = criOver(
    transport(async () => ({})),
    { calls: noCalls, clock, log: silentLog, timeouts: { requestMs: 1_000 } },
  );
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
  await cri.removeContainer(nothing, { signal });
  assert.equal(clock.pending(), 0);
  assert.equal(listeners, 0);
});

test('a signal gives up, also before the call', async () => {
  let asked = 0;
  const never = (): Promise<unknown> => (asked++, new Promise(() => {}));
  const cri = criOver(transport(never), {
    calls: noCalls,
    clock: new FakeClock(),
    log: silentLog,
    timeouts: { requestMs: 1_000 },
  });
  const controller = new AbortController();
  const call = cri.listImages({ filter: undefined }, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(call, { kind: 'cancelled', message: 'listImages: given up by the caller' });
  await assert.rejects(cri.listImages({ filter: undefined }, { signal: controller.signal }), { kind: 'cancelled' });
  assert.equal(asked, 1);
});

test('every call is observed with its duration and how it failed', async () => {
  const clock = new FakeClock();
  const seen: unknown[] = [];
  const answer = async (invocation: AnyInvocation): Promise<unknown> => {
    if (invocation.verb === 'removeContainer') throw new TubeletError('notFound', 'gone');
    await clock.sleep(250);
    return {};
  };
  const observe = (...what: readonly unknown[]): void => void seen.push(what);
  const cri = criOver(transport(answer), {
    calls: noCalls,
    clock,
    log: silentLog,
    timeouts: { requestMs: 1_000 },
    observe,
  });
  const started = cri.startContainer(nothing);
  await clock.advance(250);
  await started;
  // Gone is done for the caller, and a failure in the metrics: the runtime was asked in vain.
  await cri.removeContainer(nothing);
  assert.deepEqual(seen, [
    ['startContainer', 0.25, undefined],
    ['removeContainer', 0, 'notFound'],
  ]);
});

test('only stopping and removing ignore `notFound`', async () => {
  const gone = async (): Promise<unknown> => {
    throw new TubeletError('notFound', 'gone');
  };
  const cri = criOver(transport(gone), {
    calls: noCalls,
    clock: new FakeClock(),
    log: silentLog,
    timeouts: { requestMs: 1_000 },
  });
  await cri.stopPodSandbox(nothing);
  await cri.removePodSandbox(nothing);
  await cri.stopContainer(nothing);
  await cri.removeContainer(nothing);
  await cri.removeImage({ image: undefined });
  await assert.rejects(cri.startContainer(nothing), { kind: 'notFound' });
  await assert.rejects(cri.containerStatus(nothing), { kind: 'notFound' });
});

test('the log names the subject of a call and nothing that could be secret', async () => {
  const log = new MemoryLog();
  const answer = async (invocation: AnyInvocation): Promise<unknown> => {
    if (invocation.verb === 'pullImage') throw new TubeletError('denied', 'no access');
    return { containerId: 'new', podSandboxId: 'new' };
  };
  const cri = criOver(transport(answer), {
    calls: noCalls,
    clock: new FakeClock(),
    log,
    timeouts: { requestMs: 1_000 },
  });
  const config = ContainerConfig.fromPartial({
    metadata: { name: 'app' },
    envs: [{ key: 'TOKEN', value: Buffer.from('hunter2') }],
    command: ['hunter2'],
    annotations: { note: 'hunter2' },
  });
  await cri.createContainer({ podSandboxId: 'sandbox-id', config, sandboxConfig: undefined });
  const image = ImageSpec.fromPartial({ image: 'example.com/a:1' });
  const auth = AuthConfig.fromPartial({ username: 'u', password: 'hunter2' });
  await assert.rejects(cri.pullImage({ image, auth, sandboxConfig: undefined }));
  const metadata = { name: 'pod', namespace: 'ns' };
  await cri.runPodSandbox({ config: PodSandboxConfig.fromPartial({ metadata }), runtimeHandler: '' });
  const text = JSON.stringify(log.entries);
  assert.ok(!text.includes('hunter2'), text);
  const ended = log.entries.filter((entry) => entry.level === 5);
  assert.deepEqual(
    ended.map(({ message, fields }) => [message, fields['verb']]),
    [
      ['Runtime call done', 'createContainer'],
      ['Runtime call failed', 'pullImage'],
      ['Runtime call done', 'runPodSandbox'],
    ],
  );
  assert.deepEqual(
    ended.map(({ fields }) => [fields['podSandboxID'], fields['image'], fields['containerName'], fields['pod']]),
    [
      ['sandbox-id', undefined, 'app', undefined],
      [undefined, 'example.com/a:1', undefined, undefined],
      [undefined, undefined, undefined, { namespace: 'ns', name: 'pod' }],
    ],
  );
  assert.equal(ended[1]?.fields['err'], 'pullImage: no access');
});

test('a traced call is a span named as gRPC names it, about its subject, and the runtime learns whose it is', async () => {
  const spans: unknown[] = [];
  const sent: AnyInvocation[] = [];
  const answer = async (invocation: AnyInvocation): Promise<unknown> => {
    sent.push(invocation);
    return {};
  };
  const tracer: Tracer = {
    span: (name, options, work) => {
      spans.push({ name, ...options });
      return work({ traceparent: '00-a-b-01', set() {} });
    },
  };
  const clock = new FakeClock();
  const cri = criOver(transport(answer), {
    calls: noCalls,
    clock,
    log: silentLog,
    timeouts: { requestMs: 1_000 },
    tracer,
  });
  await cri.stopPodSandbox({ podSandboxId: 'sandbox' });
  assert.deepEqual(spans, [
    {
      name: 'runtime.v1.RuntimeService/StopPodSandbox',
      kind: 'client',
      attributes: { 'rpc.system': 'grpc', 'cri.podSandboxId': 'sandbox' },
    },
  ]);
  assert.equal(sent[0]?.options.traceparent, '00-a-b-01');
});

test('a call is reported while it runs, by names only, and how it ended', async () => {
  const calls = new MemoryCalls();
  let answer = (_error?: Error): void => {};
  const slow = (): Promise<unknown> =>
    new Promise((resolve, reject) => (answer = (error) => (error === undefined ? resolve({}) : reject(error))));
  const deps = { clock: new FakeClock(), log: silentLog, timeouts: { requestMs: 1_000 }, calls };
  const cri = criOver(transport(slow), deps);
  const done = cri.execSync({ containerId: 'abc', cmd: ['login', 'hunter2'], timeout: 1n });
  assert.deepEqual(calls.underWay(), ['runtime execSync containerId=abc']);
  answer(new TubeletError('unavailable', 'gone away'));
  await assert.rejects(done);
  assert.deepEqual(calls.underWay(), []);
  assert.deepEqual(calls.ended, ['runtime execSync containerId=abc: unavailable execSync: gone away']);
});
