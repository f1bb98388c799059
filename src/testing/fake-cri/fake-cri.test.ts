import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerConfig, ContainerState, PodSandboxConfig, PodSandboxState } from '../../gen/cri/api.ts';
import { FakeClock } from '../fake-clock.ts';
import {
  createFakeCri,
  exitAfter,
  failsToStart,
  ignoresTerm,
  oomAfter,
  runsUntilStopped,
  stopsSlowly,
  type Behaviour,
  type FakeCri,
} from './index.ts';

const sandboxConfig = PodSandboxConfig.fromPartial({
  metadata: { name: 'pod', namespace: 'ns', uid: 'uid' },
  logDirectory: '/logs',
});

function make(): { clock: FakeClock; fake: FakeCri } {
  const clock = new FakeClock();
  const fake = createFakeCri({ clock });
  fake.images.add('app:1');
  return { clock, fake };
}

async function start(fake: FakeCri, name = 'app', attempt = 0): Promise<string> {
  const sandboxes = await fake.listPodSandbox({ filter: undefined });
  const podSandboxId =
    sandboxes.items[0]?.id ?? (await fake.runPodSandbox({ config: sandboxConfig, runtimeHandler: '' })).podSandboxId;
  const config = ContainerConfig.fromPartial({ metadata: { name, attempt }, image: { image: 'app:1' } });
  const { containerId } = await fake.createContainer({ podSandboxId, config, sandboxConfig });
  await fake.startContainer({ containerId });
  return containerId;
}

async function statusOf(fake: FakeCri, containerId: string) {
  const { status } = await fake.containerStatus({ containerId, verbose: false });
  assert.ok(status !== undefined);
  return status;
}

test('a scripted exit comes at its time, with its code, on the given clock', async () => {
  const { clock, fake } = make();
  fake.programs.forContainer('app', exitAfter(1_500, 3));
  const id = await start(fake);
  await clock.advance(1_499);
  assert.equal((await statusOf(fake, id)).state, ContainerState.CONTAINER_RUNNING);
  await clock.advance(1);
  const status = await statusOf(fake, id);
  assert.deepEqual([status.state, status.exitCode, status.reason], [ContainerState.CONTAINER_EXITED, 3, 'Error']);
  assert.equal(status.finishedAt, BigInt(clock.now()) * 1_000_000n);
  assert.equal(status.finishedAt - status.startedAt < 1_500_000_000n, true);
});

test('an older runtime offers no features, and does not tell as whom containers run', async () => {
  const { fake } = make();
  const features = async () => {
    const { runtimeHandlers, features: own } = await fake.status({ verbose: false });
    return [own?.supplementalGroupsPolicy, runtimeHandlers[0]?.features?.recursiveReadOnlyMounts];
  };
  assert.deepEqual(await features(), [true, true]);
  assert.equal((await statusOf(fake, await start(fake, 'app'))).user?.linux?.uid, 0n);
  fake.health.supplementalGroupsPolicy = false;
  fake.health.recursiveReadOnlyMounts = false;
  assert.deepEqual(await features(), [false, false]);
  assert.equal((await statusOf(fake, await start(fake, 'other'))).user, undefined);
});

test('a program that wants to hears of its life, of its end before the runtime does', async () => {
  const { clock, fake } = make();
  const heard: string[] = [];
  const told = (step: string): void => void heard.push(`${step} ${fake.containerNamed('app')?.state}`);
  fake.programs.forContainer('app', { ...stopsSlowly(1_000), told }, { ...exitAfter(500, 0), told });
  const stopped = fake.stopContainer({ containerId: await start(fake), timeout: 30n });
  await clock.advance(1_000);
  await stopped;
  assert.deepEqual(heard.splice(0), ['starts running', 'asked running', 'ends running']);
  await start(fake, 'app', 1);
  await clock.advance(500);
  assert.deepEqual(heard, ['starts running', 'ends running']);
});

test('a container tells the name of its image, also when it was made by its id', async () => {
  const { fake } = make();
  const { podSandboxId } = await fake.runPodSandbox({ config: sandboxConfig, runtimeHandler: '' });
  const image = { image: fake.images.find('app:1')?.id ?? '', userSpecifiedImage: 'app:1' };
  const config = ContainerConfig.fromPartial({ metadata: { name: 'app' }, image });
  const { containerId } = await fake.createContainer({ podSandboxId, config, sandboxConfig });
  const status = await statusOf(fake, containerId);
  assert.equal(status.image?.image, 'docker.io/library/app:1');
  assert.equal(status.image.userSpecifiedImage, 'app:1');
});

test('behaviours are taken in turn, by container before image', async () => {
  const { clock, fake } = make();
  fake.programs.forImage('app:1', exitAfter(0, 9));
  fake.programs.forContainer('app', exitAfter(0, 1), oomAfter(10), runsUntilStopped());
  const ids = [];
  for (let attempt = 0; attempt < 4; attempt++) ids.push(await start(fake, 'app', attempt));
  const other = await start(fake, 'other');
  await clock.advance(10);
  const seen = await Promise.all([...ids, other].map((id) => statusOf(fake, id)));
  assert.deepEqual(
    seen.map((status) => [status.state, status.exitCode, status.reason]),
    [
      [ContainerState.CONTAINER_EXITED, 1, 'Error'],
      [ContainerState.CONTAINER_EXITED, 137, 'OOMKilled'],
      [ContainerState.CONTAINER_RUNNING, 0, ''],
      [ContainerState.CONTAINER_RUNNING, 0, ''],
      [ContainerState.CONTAINER_EXITED, 9, 'Error'],
    ],
  );
});

const stops: readonly (readonly [string, Behaviour, bigint, number, number])[] = [
  ['a polite one', runsUntilStopped(), 30n, 0, 143],
  ['a slow one', stopsSlowly(5_000, 0), 30n, 5_000, 0],
  ['one slower than its grace', stopsSlowly(60_000), 30n, 30_000, 137],
  ['a stubborn one', ignoresTerm(), 30n, 30_000, 137],
  ['a stubborn one without grace', ignoresTerm(), 0n, 0, 137],
];

for (const [name, behaviour, grace, takesMs, code] of stops) {
  test(`stopping ${name}`, async () => {
    const { clock, fake } = make();
    fake.programs.forContainer('app', behaviour);
    const containerId = await start(fake);
    let done = false;
    const stop = fake.stopContainer({ containerId, timeout: grace }).then(() => {
      done = true;
    });
    if (takesMs > 0) {
      await clock.advance(takesMs - 1);
      assert.equal(done, false);
      await clock.advance(1);
    }
    await stop;
    assert.equal((await statusOf(fake, containerId)).exitCode, code);
    assert.equal(clock.pending(), 0);
  });
}

test('what cannot be killed holds its stop up until the deadline, and ends by a hand from outside', async () => {
  const { clock, fake } = make();
  fake.programs.forContainer('app', { unkillable: true });
  const containerId = await start(fake);
  const stop = assert.rejects(fake.stopContainer({ containerId, timeout: 30n }), { kind: 'timeout' });
  await clock.advance(150_000);
  await stop;
  const remove = assert.rejects(fake.removeContainer({ containerId }), { kind: 'timeout' });
  await clock.advance(120_000);
  await remove;
  assert.equal((await statusOf(fake, containerId)).state, ContainerState.CONTAINER_RUNNING);
  fake.killContainer(containerId, { code: 1 });
  assert.equal((await statusOf(fake, containerId)).exitCode, 1);
});

test('a failed start has the kind that was scripted', async () => {
  const { fake } = make();
  fake.programs.forContainer('app', failsToStart('no space', 'exhausted'));
  await assert.rejects(start(fake), { kind: 'exhausted', message: 'startContainer: no space' });
  assert.equal(fake.containerNamed('app')?.reason, 'StartError');
});

test('a crash breaks calls and streams, and containers go on', async () => {
  const { clock, fake } = make();
  fake.programs.forContainer('app', exitAfter(1_000, 0));
  const id = await start(fake);
  fake.faults.hang('status');
  const call = assert.rejects(fake.status({ verbose: false }), { kind: 'unavailable' });
  const events = fake.containerEvents(new AbortController().signal)[Symbol.asyncIterator]();
  const next = assert.rejects(events.next(), { kind: 'unavailable' });
  fake.crash();
  await Promise.all([call, next]);
  await assert.rejects(fake.version({ version: '' }), { kind: 'unavailable' });
  assert.equal(fake.events.listeners(), 0);
  await clock.advance(1_000);
  fake.restart();
  assert.equal((await statusOf(fake, id)).state, ContainerState.CONTAINER_EXITED);
});

test('a reboot ends everything and forgets nothing', async () => {
  const { fake } = make();
  const id = await start(fake);
  fake.reboot();
  const { items } = await fake.listPodSandbox({ filter: undefined });
  assert.equal(items[0]?.state, PodSandboxState.SANDBOX_NOTREADY);
  assert.deepEqual([(await statusOf(fake, id)).exitCode, (await statusOf(fake, id)).reason], [255, 'Unknown']);
});

test('a sandbox whose pause process dies is not ready, its containers go on', async () => {
  const { fake } = make();
  const id = await start(fake);
  const { items } = await fake.listPodSandbox({ filter: undefined });
  fake.killSandbox(items[0]?.id ?? '');
  const { status } = await fake.podSandboxStatus({ podSandboxId: items[0]?.id ?? '', verbose: false });
  assert.equal(status?.state, PodSandboxState.SANDBOX_NOTREADY);
  assert.equal((await statusOf(fake, id)).state, ContainerState.CONTAINER_RUNNING);
});

test('nobody shares objects with the runtime', async () => {
  const { fake } = make();
  const config = structuredClone(sandboxConfig);
  config.labels = { a: '1' };
  await fake.runPodSandbox({ config, runtimeHandler: '' });
  config.labels['a'] = 'changed by the caller';
  const first = await fake.listPodSandbox({ filter: undefined });
  first.items[0]!.labels['a'] = 'changed by a reader';
  const second = await fake.listPodSandbox({ filter: undefined });
  assert.equal(second.items[0]?.labels['a'], '1');
});

test('calls are kept with request and time', async () => {
  const { clock, fake } = make();
  await clock.advance(5);
  await fake.stopContainer({ containerId: 'x', timeout: 3n });
  assert.deepEqual(fake.calls, [
    { verb: 'stopContainer', request: { containerId: 'x', timeout: 3n }, at: clock.now() },
  ]);
});

test('no two times are the same, though the clock stands still', async () => {
  const { fake } = make();
  const made = [await statusOf(fake, await start(fake, 'a')), await statusOf(fake, await start(fake, 'b'))];
  const times = made.flatMap((status) => [status.createdAt, status.startedAt]);
  assert.equal(new Set(times).size, times.length);
});

test('usage grows with the time a container runs', async () => {
  const { clock, fake } = make();
  fake.usage.set('app', { nanoCores: 500_000_000n, memoryBytes: 42n });
  const containerId = await start(fake);
  await clock.advance(10_000);
  const { stats } = await fake.containerStats({ containerId });
  const seconds = Number(stats?.cpu?.usageCoreNanoSeconds?.value ?? 0n) / 1e9;
  assert.ok(Math.abs(seconds - 5) < 0.001, String(seconds));
  assert.equal(stats?.memory?.workingSetBytes?.value, 42n);
  const { podMetrics } = await fake.listPodSandboxMetrics({});
  assert.equal(podMetrics[0]?.containerMetrics[0]?.metrics[0]?.value?.value, 42n);
});
