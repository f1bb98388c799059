import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitAfter } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

async function world(): Promise<AgentWorld> {
  const it = new AgentWorld();
  await it.start();
  return it;
}

describe('a pod from its manifest to its end', () => {
  test('starts, is ready, and is gone with its manifest', async () => {
    const it = await world();
    await it.manifests(aPod());
    assert.deepEqual(it.verbs(), ['runPodSandbox', 'createContainer', 'startContainer']);
    assert.equal(it.phase(), 'Running');
    assert.equal(it.isReady(), true);
    assert.equal(it.status('uid-1')?.podIP, '10.88.0.1');
    assert.deepEqual(it.eventReasons(), ['Pulled', 'Created', 'Started']);
    assert.ok(it.files.tree('/var/lib/kubelet/pods/uid-1').includes('644 etc-hosts'));

    const cgroups = (): string[] => [...it.machine.cgroups.groups.keys()].filter((path) => path.endsWith('poduid-1'));
    assert.equal(cgroups().length, 1);

    await it.manifests();
    await it.clock.advance(10);
    assert.deepEqual(it.containers(), []);
    assert.deepEqual(it.sandboxes(), []);
    assert.deepEqual(it.files.tree('/var/lib/kubelet/pods'), []);
    assert.deepEqual(it.files.tree('/var/log/pods'), []);
    assert.deepEqual(cgroups(), []);
    assert.deepEqual(it.gone, ['uid-1']);
    assert.equal(it.views.pods.pods().length, 0);
    assert.deepEqual(it.agent.remembered(), {});
    await it.stop();
  });

  test('a pod that runs once succeeds and stays visible', async () => {
    const it = await world();
    it.cri.programs.forContainer('main', exitAfter(2_000, 0));
    await it.manifests(aPod({ spec: { restartPolicy: 'Never' } }));
    await it.clock.advance(3_500);
    assert.equal(it.phase(), 'Succeeded');
    await it.clock.advance(600_000);
    assert.equal(it.phase(), 'Succeeded');
    assert.deepEqual(it.containers(), ['main#0 exited']);
    assert.equal(it.verbs().filter((verb) => verb === 'createContainer').length, 1);
    await it.stop();
  });
});

describe('restarts', () => {
  test('a container that dies is restarted at once', async () => {
    const it = await world();
    await it.manifests(aPod());
    await it.clock.advance(5_000);
    it.cri.killContainer(it.cri.containerNamed('main')?.id ?? '');
    await it.clock.advance(100);
    assert.deepEqual(it.containers(), ['main#0 exited', 'main#1 running']);
    await it.stop();
  });

  test('a container that dies unheard is restarted by the relist', async () => {
    const it = await world();
    await it.manifests(aPod());
    await it.clock.advance(5_000);
    it.cri.events.loseNext(Number.POSITIVE_INFINITY);
    it.cri.killContainer(it.cri.containerNamed('main')?.id ?? '');
    await it.clock.advance(10_100);
    assert.deepEqual(it.containers(), ['main#0 exited', 'main#1 running']);
    assert.equal(it.status('uid-1')?.containerStatuses?.[0]?.restartCount, 1);
    await it.stop();
  });

  test('a crash loop backs off 10 s, 20 s, 40 s, and says so', async () => {
    const it = await world();
    it.cri.programs.forContainer('main', exitAfter(0, 3));
    await it.manifests(aPod());
    const starts = (): number => it.verbs().filter((verb) => verb === 'startContainer').length;
    await it.clock.advance(2_500);
    assert.equal(starts(), 2);
    const container = () => it.status('uid-1')?.containerStatuses?.[0];
    assert.equal(container()?.state?.terminated?.exitCode, 3, 'how it ended can be seen before the wait is told');
    assert.equal(container()?.lastState?.terminated?.exitCode, 3);
    await it.clock.advance(11_000);
    assert.equal(starts(), 3);
    await it.clock.advance(15_000);
    assert.deepEqual(container()?.state, {
      waiting: {
        reason: 'CrashLoopBackOff',
        message: 'back-off 20s restarting failed container=main pod=web-node-1_default(uid-1)',
      },
    });
    assert.equal(container()?.lastState?.terminated?.exitCode, 3);
    await it.clock.advance(6_500);
    assert.equal(starts(), 4);
    await it.clock.advance(41_500);
    assert.equal(starts(), 5);
    assert.ok(it.containers().length <= 2, 'dead instances are pruned');
    assert.ok(it.eventReasons().includes('BackOff'));
    await it.stop();
  });

  test('the crash loop is forgotten after a long good run', async () => {
    const it = await world();
    it.cri.programs.forContainer(
      'main',
      exitAfter(0, 1),
      exitAfter(0, 1),
      exitAfter(700_000, 1),
      exitAfter(1_000_000, 1),
    );
    await it.manifests(aPod());
    await it.clock.advance(715_000);
    assert.deepEqual(it.containers().at(-1), 'main#3 running');
    await it.stop();
  });

  test('a dead sandbox is replaced with all that was in it', async () => {
    const it = await world();
    await it.manifests(aPod());
    const [sandbox] = it.cri.state.sandboxes.values();
    it.cri.killSandbox(sandbox?.id ?? '');
    await it.clock.advance(1_500);
    assert.deepEqual(it.sandboxes().at(-1), '#1 ready');
    assert.deepEqual(it.containers().at(-1), 'main#1 running');
    assert.ok(it.eventReasons().includes('SandboxChanged'));
    await it.stop();
  });
});

describe('trouble', () => {
  test('a pull that fails backs off and then succeeds', async () => {
    const it = await world();
    it.cri.faults.fail('pullImage', 'unavailable', { times: 1, message: 'no route to registry' });
    await it.manifests(aPod({ spec: { containers: [aContainer('main', { image: 'localhost/other:1' })] } }));
    await it.clock.advance(15_000);
    assert.equal(it.phase(), 'Running');
    const waits = it.statusHistory
      .get('uid-1')
      ?.flatMap(({ containerStatuses }) => containerStatuses?.[0]?.state?.waiting ?? []);
    assert.deepEqual(waits, [
      { reason: 'ContainerCreating' },
      { reason: 'ErrImagePull', message: 'no route to registry' },
      {
        reason: 'ImagePullBackOff',
        message: 'Back-off pulling image "localhost/other:1": ErrImagePull: no route to registry',
      },
    ]);
    assert.deepEqual(it.eventReasons().slice(0, 3), ['Pulling', 'Failed', 'Failed']);
    await it.stop();
  });

  test('a sandbox that cannot be made is tried again', async () => {
    const it = await world();
    it.cri.faults.fail('runPodSandbox', 'internal', { times: 1, message: 'no network' });
    await it.manifests(aPod());
    assert.equal(it.phase(), 'Pending');
    const [event] = it.events;
    assert.equal(event?.reason, 'FailedCreatePodSandBox');
    assert.match(event?.message ?? '', /^Failed to create pod sandbox: no network$/);
    await it.clock.advance(16_000);
    assert.equal(it.phase(), 'Running');
    await it.stop();
  });

  test('one pod whose runtime calls hang holds up no other', async () => {
    const it = await world();
    it.cri.faults.hang('createContainer', { when: (request) => JSON.stringify(request, bigints).includes('"hung"') });
    await it.manifests(
      aPod({ uid: 'a', name: 'a', spec: { containers: [aContainer('hung')] } }),
      aPod({ uid: 'b', name: 'b' }),
    );
    assert.equal(it.phase('b'), 'Running');
    assert.equal(it.phase('a'), 'Pending');
    await it.manifests();
    await it.clock.advance(100);
    assert.deepEqual(it.sandboxes('a'), []);
    assert.deepEqual(it.sandboxes('b'), []);
    await it.stop();
  });

  test('the runtime goes away and comes back: the pod is not touched', async () => {
    const it = await world();
    await it.manifests(aPod());
    it.cri.crash();
    await it.clock.advance(20_000);
    it.cri.restart();
    await it.clock.advance(20_000);
    assert.deepEqual(it.containers(), ['main#0 running']);
    assert.equal(it.isReady(), true);
    await it.stop();
  });
});

const bigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
