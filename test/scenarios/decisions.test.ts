import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodPage, ShownDecision } from '../../src/recorder/index.ts';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { debugPodHandler } from '../../src/server/index.ts';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { aRequest, readAnswer } from '../../src/testing/route-requests.ts';
import { AgentWorld } from '../support/agent-world.ts';
import { ClusterWorld } from '../support/cluster-world.ts';

async function ask(
  { recorder }: Pick<AgentWorld, 'recorder'>,
  uid: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const handler = debugPodHandler({ pod: (of) => recorder.podPage(of) });
  return readAnswer(await handler(aRequest({ params: { uid } })));
}

/** What whoever may read nodes/proxy gets. */
async function pageOf(world: Pick<AgentWorld, 'recorder'>, uid = 'uid-1'): Promise<PodPage> {
  const { status, body } = await ask(world, uid);
  assert.equal(status, 200, body);
  return JSON.parse(body) as PodPage;
}

const inShort = ({ kind, reason, message, containerName, count }: ShownDecision): string =>
  `${kind} ${reason}${containerName === undefined ? '' : ` ${containerName}`} ×${count}: ${message}`;

async function worldWith(pod: DesiredPod, prepare: (world: AgentWorld) => void = () => {}): Promise<AgentWorld> {
  const world = new AgentWorld();
  prepare(world);
  await world.start();
  await world.manifests(pod);
  return world;
}

const secondsFrom = (from: string | undefined, to: string | undefined): number =>
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1_000;

describe('the page of a pod says', () => {
  test('by which rule it was refused', async () => {
    const containers = [aContainer('main', { resources: { requests: { cpu: '64' } } })];
    // A static pod is critical: others would have to give way.
    const world = new ClusterWorld();
    world.machine.capacity['cpu'] = '2';
    await world.start();
    const uid = world.bind('web', { containers, priority: 0 });
    await world.clock.advance(1_000);
    const { namespace, name, decisions } = await pageOf(world, uid);
    assert.deepEqual([namespace, name], ['default', 'web']);
    assert.deepEqual(decisions.map(inShort), [
      "reject OutOfcpu ×1: Node didn't have enough resource: cpu, requested: 64000, used: 0, capacity: 2000",
    ]);
    assert.deepEqual(decisions[0]?.inputs, { activePods: 0 });
    await world.stop();
  });

  test('how a container that crashes ended, and when it starts again', async () => {
    const world = await worldWith(aPod({ spec: { containers: [aContainer('main')] } }), (it) =>
      it.cri.programs.forContainer('main', exitAfter(100, 3)),
    );
    await world.clock.advance(20_000);
    const { decisions } = await pageOf(world);
    assert.deepEqual(decisions.map(inShort), [
      'admit Admitted ×1: it may run on this node',
      'createSandbox NoSandbox ×1: there is no sandbox',
      'start Started main ×1: the sandbox is new',
      'backOff CrashLoopBackOff main ×1: back-off 10s restarting failed container=main pod=web-node-1_default(uid-1)',
      'restart Restarted main ×2: it ended',
      'backOff CrashLoopBackOff main ×1: back-off 20s restarting failed container=main pod=web-node-1_default(uid-1)',
    ]);
    const last = decisions.at(-1);
    const previous = last?.inputs?.['previous'] as Readonly<Record<string, unknown>>;
    assert.deepEqual([previous['exitCode'], previous['reason'], previous['restartCount']], [3, 'Error', 2]);
    assert.equal(secondsFrom(String(previous['finishedAt']), last?.nextTryTime), 20);
    await world.stop();
  });

  test('what it waits for, since when, how often that was tried, and when it is tried next', async () => {
    const volumeMounts = [{ name: 'settings', mountPath: '/etc/settings' }];
    const volumes = [{ name: 'settings', configMap: { name: 'missing' } }];
    const world = await worldWith(aPod({ spec: { volumes, containers: [aContainer('main', { volumeMounts })] } }));
    const { decisions: atFirst } = await pageOf(world);
    const problem = 'MountVolume.SetUp failed for volume "settings" : configmap "missing" not found';
    assert.deepEqual(inShort(atFirst[1] ?? assert.fail()), `retry FailedMount ×1: ${problem}`);
    assert.equal(secondsFrom(atFirst[1]?.lastTime, atFirst[1]?.nextTryTime), 0.5);

    await world.clock.advance(3_600_000);
    const { decisions } = await pageOf(world);
    assert.deepEqual(
      decisions.map(({ kind, reason }) => `${kind} ${reason}`),
      ['admit Admitted', 'retry FailedMount', 'wait VolumesNotReady', 'retry FailedSync'],
      'an hour of tries has not pushed out what came before',
    );
    const [, mount, wait, sync] = decisions;
    assert.deepEqual([mount?.inputs?.['volume'], mount?.firstTime], ['settings', atFirst[1]?.firstTime]);
    assert.ok((mount?.count ?? 0) > 100, String(mount?.count));
    assert.ok(Number(mount?.inputs?.['failures']) >= (mount?.count ?? 0));
    assert.ok(wait?.message.includes(problem));
    const nextIn = secondsFrom(sync?.lastTime, sync?.nextTryTime);
    assert.ok(nextIn >= 10 && nextIn <= 15, String(nextIn));
    await world.stop();
  });

  test('which probe had it killed, after what answer', async () => {
    const livenessProbe = { exec: { command: ['alive'] }, periodSeconds: 2, timeoutSeconds: 1, failureThreshold: 3 };
    const world = await worldWith(aPod({ spec: { containers: [aContainer('main', { livenessProbe })] } }), (it) =>
      it.cri.execs.on(() => ({ exitCode: 1, stdout: 'sick' })),
    );
    await world.clock.advance(5_000);
    const { decisions } = await pageOf(world);
    assert.deepEqual(decisions.slice(3).map(inShort), [
      'probe LivenessProbeFailed main ×1: the last answer was: sick',
      'kill LivenessProbeFailed main ×1: Container main failed liveness probe, will be restarted',
      'restart Restarted main ×1: its liveness probe failed',
    ]);
    assert.deepEqual(decisions[3]?.inputs, { triesInARow: 3 });
    assert.equal(decisions[4]?.inputs?.['graceSeconds'], 30);
    await world.stop();
  });

  test('what a configuration that is not there keeps from starting', async () => {
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'missing', key: 'k' } } }];
    const world = await worldWith(aPod({ spec: { containers: [aContainer('main', { env })] } }));
    await world.clock.advance(60_000);
    const last = (await pageOf(world)).decisions.at(-1) ?? assert.fail();
    assert.match(inShort(last), /^refuse CreateContainerConfigError main ×\d+: configmap "missing" not found$/);
    assert.ok(Date.parse(last.nextTryTime ?? '') > world.clock.now());
    await world.stop();
  });
});

test('a healthy pod is decided about once, however long it runs', async () => {
  const world = await worldWith(aPod());
  await world.clock.advance(1_000);
  const { decisions } = await pageOf(world);
  await world.clock.advance(3_600_000);
  assert.deepEqual((await pageOf(world)).decisions, decisions);
  await world.stop();
});

test('a pod that was removed can still be asked about, one that never was cannot', async () => {
  const world = await worldWith(aPod());
  await world.clock.advance(1_000);
  await world.manifests();
  await world.clock.advance(60_000);
  assert.deepEqual(world.gone, ['uid-1']);
  const { removedTime, decisions } = await pageOf(world);
  assert.ok(removedTime !== undefined);
  assert.deepEqual(decisions.slice(3).map(inShort), [
    'terminate SourceRemoved ×1: no source names the pod any more',
    'finish ContainersStopped ×1: nothing of the pod runs any more',
    'finish Released ×1: volumes and cgroups were released',
    'remove Removed ×1: nothing of it is left in the runtime and on disk',
  ]);
  assert.equal((await ask(world, 'uid-2')).status, 404);
  await world.stop();
});
