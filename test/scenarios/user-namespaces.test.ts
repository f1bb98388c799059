import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NamespaceMode, type IDMapping, type NamespaceOption } from '../../src/gen/cri/api.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { AgentWorld } from '../support/agent-world.ts';

const k64 = 65_536;
const mapped = (hostId: number): IDMapping => ({ hostId, containerId: 0, length: k64 });
const volumes = [{ name: 'data', emptyDir: {} }];
const container = aContainer('main', { volumeMounts: [{ name: 'data', mountPath: '/data' }] });
const ownUsers = (uid: string, name = uid) =>
  aPod({ uid, name, spec: { hostUsers: false, volumes, containers: [container] } });

async function world({ announces = true } = {}): Promise<AgentWorld> {
  const it = new AgentWorld();
  if (announces) it.cri.health.userNamespaceHandlers.add('');
  await it.start();
  return it;
}

const newest = <T>(all: Iterable<T>): T => [...all].at(-1) ?? assert.fail('there is none');

/** The users of the newest sandbox of a pod, as the runtime was asked for them. */
function sandboxUsers(it: AgentWorld, uid: string): NamespaceOption['usernsOptions'] {
  const sandboxes = [...it.cri.state.sandboxes.values()].filter(({ config }) => config.metadata?.uid === uid);
  return newest(sandboxes).config.linux?.securityContext?.namespaceOptions?.usernsOptions;
}

/** Of the newest container of a pod: its users, and those of each of its mounts. */
function containerUsers(it: AgentWorld, uid: string) {
  const containers = [...it.cri.state.containers.values()];
  const { config } = newest(containers.filter((each) => each.config.labels['io.kubernetes.pod.uid'] === uid));
  return {
    users: config.linux?.securityContext?.namespaceOptions?.usernsOptions,
    mounts: config.mounts.map(({ containerPath, uidMappings, gidMappings }) => ({
      containerPath,
      uidMappings,
      gidMappings,
    })),
  };
}

function assertUsers(it: AgentWorld, uid: string, hostId: number): void {
  const mappings = [mapped(hostId)];
  const users = { mode: NamespaceMode.POD, uids: mappings, gids: mappings };
  assert.deepEqual(sandboxUsers(it, uid), users);
  assert.deepEqual(containerUsers(it, uid), {
    users,
    mounts: ['/data', '/etc/hosts', '/dev/termination-log'].map((containerPath) => ({
      containerPath,
      uidMappings: mappings,
      gidMappings: mappings,
    })),
  });
}

describe('a pod with users of its own', () => {
  test('the sandbox, the container and every mount of it have the ids on record', async () => {
    const it = await world();
    await it.manifests(ownUsers('one'), ownUsers('two'));
    assertUsers(it, 'one', k64);
    assertUsers(it, 'two', 2 * k64);
    assert.equal(
      await it.files.readText('/var/lib/kubelet/pods/two/userns'),
      '{"uidMappings":[{"hostId":131072,"containerId":0,"length":65536}],' +
        '"gidMappings":[{"hostId":131072,"containerId":0,"length":65536}]}',
    );
    assert.ok(it.files.tree('/var/lib/kubelet/pods/one').includes('600 userns'));
    assert.deepEqual([it.phase('one'), it.phase('two')], ['Running', 'Running']);
    await it.stop();
  });

  test('a pod beside it shares the users of the node as ever', async () => {
    const it = await world();
    await it.manifests(aPod({ uid: 'shares', spec: { volumes, containers: [container] } }));
    assert.deepEqual(sandboxUsers(it, 'shares'), { mode: NamespaceMode.NODE, uids: [], gids: [] });
    const { users, mounts } = containerUsers(it, 'shares');
    assert.deepEqual(users, { mode: NamespaceMode.NODE, uids: [], gids: [] });
    for (const { uidMappings, gidMappings } of mounts) assert.deepEqual([uidMappings, gidMappings], [[], []]);
    assert.equal(it.files.has('/var/lib/kubelet/pods/shares/userns'), false);
    await it.stop();
  });

  test('its ids are free when nothing of it is left, not before', async () => {
    const it = await world();
    await it.manifests(ownUsers('one'), ownUsers('two'), ownUsers('three'));
    // Manifests are read in the order of their names.
    assertUsers(it, 'two', 3 * k64);
    let stuck = true;
    it.files.fault = (operation, path) => {
      if (stuck && operation === 'removeTree' && path.endsWith('pods/two'))
        throw new Error('a volume is still mounted');
    };
    await it.manifests(ownUsers('one'), ownUsers('three'), ownUsers('four'));
    await it.clock.advance(120_000);
    assert.deepEqual(it.sandboxes('four'), []);
    const last = it.events.at(-1);
    assert.deepEqual([last?.pod, last?.reason], ['four', 'FailedCreatePodSandBox']);
    assert.match(last?.message ?? '', /^Failed to create pod sandbox: no user namespace is left: /);
    stuck = false;
    await it.clock.advance(120_000);
    assert.deepEqual(it.gone, ['two']);
    assertUsers(it, 'four', 3 * k64);
    await it.stop();
  });

  test('keeps its ids when the agent, its containers and its sandbox do not last', async () => {
    const it = await world();
    await it.manifests(ownUsers('one'), ownUsers('two'));
    await it.stop();
    await it.start();
    await it.clock.advance(1_000);
    assert.deepEqual(it.containers('two'), ['main#0 running']);

    const running = newest(it.cri.state.containers.values());
    it.cri.killContainer(running.id);
    await it.clock.advance(30_000);
    assert.deepEqual(it.containers('two').at(-1), 'main#1 running');
    assertUsers(it, 'two', 2 * k64);

    await it.stop();
    it.cri.killSandbox(newest(it.cri.state.sandboxes.values()).id);
    await it.start();
    await it.clock.advance(30_000);
    assert.deepEqual(it.sandboxes('two').at(-1), '#1 ready');
    assertUsers(it, 'two', 2 * k64);
    await it.stop();
  });

  test('a new agent gives a new pod nobody else’s ids, also while the old pod is only being removed', async () => {
    const it = await world();
    await it.manifests(ownUsers('one'));
    await it.stop();
    await it.manifests(ownUsers('two'));
    await it.start();
    assertUsers(it, 'two', 2 * k64);
    await it.clock.advance(5_000);
    assert.deepEqual([it.sandboxes('one'), it.files.has('/var/lib/kubelet/pods/one')], [[], false]);
    await it.manifests(ownUsers('two'), ownUsers('three'));
    assertUsers(it, 'three', k64);
    await it.stop();
  });

  test('a damaged record keeps its own pod from new containers, and nobody else', async () => {
    const it = await world();
    await it.manifests(ownUsers('one'));
    await it.stop();
    await it.files.writeFile('/var/lib/kubelet/pods/one/userns', '{"uidMappings":[', 0o600);
    it.cri.killContainer(newest(it.cri.state.containers.values()).id);
    await it.manifests(ownUsers('one'), ownUsers('two'));
    await it.start();
    await it.clock.advance(30_000);
    assert.deepEqual(it.containers('one'), ['main#0 exited']);
    assert.equal(it.phase('two'), 'Running');
    const told = it.events.find(({ pod, reason }) => pod === 'one' && reason === 'FailedCreatePodSandBox');
    assert.match(told?.message ?? '', /pods\/one\/userns cannot be used: it is not JSON: .*; delete the pod/);
    await it.manifests(ownUsers('two'));
    await it.clock.advance(5_000);
    assert.deepEqual(it.gone, ['one']);
    await it.stop();
  });
});

describe('a runtime that does not announce user namespaces', () => {
  test('is not asked for any; other pods run', async () => {
    const it = await world({ announces: false });
    await it.manifests(ownUsers('one'), aPod());
    await it.clock.advance(1_000);
    assert.deepEqual(it.sandboxes('one'), []);
    assert.equal(it.phase('one'), 'Pending');
    assert.equal(it.phase(), 'Running');
    assert.deepEqual(
      it.events.find(({ pod }) => pod === 'one'),
      {
        pod: 'one',
        type: 'Warning',
        reason: 'FailedCreatePodSandBox',
        message:
          "Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces",
      },
    );
    assert.equal(it.files.has('/var/lib/kubelet/pods/one/userns'), false);
    await it.stop();
  });

  test('once it does, the pod runs', async () => {
    const it = await world({ announces: false });
    await it.manifests(ownUsers('one'));
    await it.clock.advance(1_000);
    it.cri.health.userNamespaceHandlers.add('');
    await it.clock.advance(120_000);
    assertUsers(it, 'one', k64);
    await it.stop();
  });
});
