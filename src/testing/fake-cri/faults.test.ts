import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../fake-clock.ts';
import { PodSandboxConfig, type ContainerEventResponse } from '../../gen/cri/api.ts';
import { createFakeCri, type FakeCri } from './index.ts';

const all = { filter: undefined };

function podConfig(name: string): PodSandboxConfig {
  return PodSandboxConfig.fromPartial({ metadata: { name, namespace: 'ns', uid: 'uid' } });
}

async function runPod(fake: FakeCri, name: string): Promise<string> {
  return (await fake.runPodSandbox({ config: podConfig(name), runtimeHandler: '' })).podSandboxId;
}

test('failures strike as often as wanted, with their kind', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.faults.fail('listPodSandbox', 'unavailable', { times: 2, message: 'away' });
  await assert.rejects(fake.listPodSandbox(all), { kind: 'unavailable', message: 'listPodSandbox: away' });
  await assert.rejects(fake.listPodSandbox(all), { kind: 'unavailable' });
  await fake.listPodSandbox(all);
  fake.faults.fail('listPodSandbox', 'denied');
  for (let n = 0; n < 3; n++) await assert.rejects(fake.listPodSandbox(all), { kind: 'denied' });
  fake.faults.clear('listPodSandbox');
  await fake.listPodSandbox(all);
});

test('a failure afterwards loses the answer and not the deed', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.faults.fail('runPodSandbox', 'timeout', { times: 1, afterwards: true });
  await assert.rejects(runPod(fake, 'pod'), { kind: 'timeout' });
  assert.equal((await fake.listPodSandbox(all)).items.length, 1);
  await assert.rejects(runPod(fake, 'pod'), { kind: 'alreadyExists' });
});

test('a fault may strike some requests only', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  const when = (request: unknown): boolean => JSON.stringify(request).includes('"bad"');
  fake.faults.fail('runPodSandbox', 'internal', { when });
  await runPod(fake, 'good');
  await assert.rejects(runPod(fake, 'bad'), { kind: 'internal' });
});

test('a delay takes its time and a hang the whole deadline', async () => {
  const clock = new FakeClock();
  const fake = createFakeCri({ clock, timeouts: { requestMs: 1_000 } });
  fake.faults.delay('status', 400, { times: 1 });
  let answered = false;
  const status = fake.status({ verbose: false }).then(() => {
    answered = true;
  });
  await clock.advance(399);
  assert.equal(answered, false);
  await clock.advance(1);
  await status;

  fake.faults.hang('status', { times: 1 });
  const hanging = assert.rejects(fake.status({ verbose: false }), { kind: 'timeout' });
  await clock.advance(1_000);
  await hanging;
  await fake.status({ verbose: false });
  assert.equal(clock.pending(), 0);
});

test('a call that was given up while it was delayed does nothing', async () => {
  const clock = new FakeClock();
  const fake = createFakeCri({ clock });
  fake.faults.delay('runPodSandbox', 400);
  const controller = new AbortController();
  const request = { config: podConfig('pod'), runtimeHandler: '' };
  const run = assert.rejects(fake.runPodSandbox(request, { signal: controller.signal }), { kind: 'cancelled' });
  await clock.advance(100);
  controller.abort();
  await run;
  await clock.advance(1_000);
  assert.equal((await fake.listPodSandbox(all)).items.length, 0);
});

/** Events as they arrive, by type and pod. */
function listen(fake: FakeCri): { readonly seen: string[]; readonly stop: () => void } {
  const seen: string[] = [];
  const controller = new AbortController();
  const words = ['created', 'started', 'stopped', 'deleted'];
  const describe = (event: ContainerEventResponse): string =>
    `${event.podSandboxStatus?.metadata?.name} ${words[event.containerEventType]}`;
  void (async () => {
    for await (const event of fake.containerEvents(controller.signal)) seen.push(describe(event));
  })();
  return { seen, stop: () => controller.abort() };
}

test('events can be lost, doubled and late', async () => {
  const clock = new FakeClock();
  const fake = createFakeCri({ clock });
  const { seen, stop } = listen(fake);
  await clock.settle();
  fake.events.loseNext(1);
  await runPod(fake, 'one');
  fake.events.duplicateNext(1);
  await runPod(fake, 'two');
  fake.events.delay(50);
  await runPod(fake, 'three');
  await clock.advance(49);
  assert.deepEqual(seen, ['one started', 'two created', 'two created', 'two started']);
  await clock.advance(1);
  assert.deepEqual(seen.slice(4), ['three created', 'three started']);
  stop();
  await clock.settle();
  assert.equal(fake.events.listeners(), 0);
});

test('a runtime without events refuses the stream and says nothing of containers in a status', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.events.supported = false;
  const events = fake.containerEvents(new AbortController().signal)[Symbol.asyncIterator]();
  await assert.rejects(events.next(), { kind: 'unsupported' });
  const podSandboxId = await runPod(fake, 'pod');
  assert.equal((await fake.podSandboxStatus({ podSandboxId, verbose: false })).timestamp, 0n);
});
