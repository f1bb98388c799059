import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { freePorts, RealNode, startedWork } from '../support/real-node.ts';
import { idlePod } from '../support/real-pods.ts';
import { nodeName } from '../support/real-runtime.ts';
import { clock, until } from '../support/real-wait.ts';

/** A stop has ten seconds by itself; a busy machine adds to them. */
const boundedMs = 20_000;
/** Less than one component of the agent may take to stop. */
const atOnceMs = 3_000;

let node: RealNode;
before(async () => {
  node = await RealNode.start('kubelet');
});
afterEach(() => node.endAgents());
after(() => node?.destroy());

/** Starts a pod and answers what runs of it. */
async function startPod(name: string): Promise<ReadonlyMap<string, string>> {
  node.put(name, idlePod(name, node.image));
  await node.readyPod(name);
  return node.runtime.running(name);
}

describe('the agent tells', () => {
  test('that it is healthy, and which pods it has', async () => {
    await node.healthyAgent();
    const [plain, verbose] = [await node.healthz(), await node.healthz('?verbose')];
    assert.deepEqual([plain.status, await plain.text()], [200, 'ok']);
    assert.equal(await verbose.text(), '[+]ping ok\nhealthz check passed\n');

    node.put('shown', idlePod('shown', node.image, ['left', 'right'], 'true'));
    const { metadata, spec, status } = await node.readyPod('shown');
    const running = await node.runtime.running('shown');
    assert.equal(metadata?.name, `shown-${nodeName}`);
    assert.equal(spec?.nodeName, nodeName);
    assert.equal(status?.phase, 'Running');
    assert.match(status?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(
      status?.containerStatuses?.map(({ name, ready, restartCount, containerID, state }) => ({
        name,
        ready,
        restartCount,
        containerID,
        runs: state?.running !== undefined,
      })),
      ['left', 'right'].map((name) => ({
        name,
        ready: true,
        restartCount: 0,
        containerID: `containerd://${running.get(name)}`,
        runs: true,
      })),
    );
    assert.deepEqual(
      status?.initContainerStatuses?.map(({ name, state }) => [name, state?.terminated?.exitCode]),
      [['prepare', 0]],
    );
    await node.remove('shown');
    await until('the pod is not listed any more', async () => (await node.pod('shown')) === undefined);
  });

  test('the service manager when it is ready', async (context) => {
    // Node.js has no datagram sockets of the unix kind.
    if (spawnSync('python3', ['--version']).status !== 0) return context.skip('needs python3 to listen on a socket');
    const socket = join(node.path, 'notify.sock');
    const listen =
      'import socket, sys\n' +
      's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n' +
      's.bind(sys.argv[1])\n' +
      'print("bound", flush=True)\n' +
      'while True: print(s.recv(4096).decode(), flush=True)';
    const manager = spawn('python3', ['-c', listen, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
    let heard = '';
    manager.stdout.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    try {
      await until('the service manager listens', () => heard === 'bound\n');
      const agent = node.agent([], { NOTIFY_SOCKET: socket });
      await until('READY=1 is heard', () => heard === 'bound\nREADY=1\n', { state: () => heard });
      agent.kill('SIGTERM');
      assert.equal((await agent.ended).code, 0);
      await until('STOPPING=1 is heard', () => heard === 'bound\nREADY=1\nSTOPPING=1\n', { state: () => heard });
    } finally {
      const ended = once(manager, 'exit');
      manager.kill('SIGKILL');
      await ended;
    }
  });
});

describe('the agent ends', () => {
  test('in time when it is asked to, and its pods run on', async () => {
    const agent = await node.healthyAgent();
    const running = await startPod('survivor');
    const began = clock.monotonic();
    agent.kill('SIGTERM');
    assert.deepEqual(await agent.ended.then(({ code, signal }) => ({ code, signal })), { code: 0, signal: null });
    assert.ok(clock.monotonic() - began < boundedMs);
    assert.deepEqual(await node.runtime.running('survivor'), running);
    await node.healthyAgent();
    await node.remove('survivor');
  });

  test('in time although the runtime hangs, and at once when it is asked again', async () => {
    for (const asks of [1, 2]) {
      // So talkative that it tells of calls which have not been answered yet.
      const agent = await node.workingAgent(['--v=6']);
      process.kill(node.runtimePid, 'SIGSTOP');
      try {
        await agent.said(/"Runtime call" verb="listContainers"/, agent.text.length);
        agent.kill('SIGTERM');
        await agent.said(/Stopping kubelet/);
        const began = clock.monotonic();
        if (asks === 2) agent.kill('SIGTERM');
        const { code } = await agent.ended;
        const ms = clock.monotonic() - began;
        assert.ok(ms < (asks === 1 ? boundedMs : atOnceMs), `${asks} signals: ${ms} ms`);
        if (asks === 1) assert.equal(code, 0);
      } finally {
        process.kill(node.runtimePid, 'SIGCONT');
      }
    }
  });

  test('after running its pods once, and they run on', async () => {
    node.put('once', idlePod('once', node.image));
    const agent = node.agent(['--runonce']);
    assert.equal((await agent.ended).code, 0, agent.text);
    assert.match(agent.text, new RegExp(`^default/once-${nodeName}: Running$`, 'm'));
    assert.equal((await node.runtime.running('once')).size, 1);
    await node.healthyAgent();
    await node.remove('once');
  });
});

describe('the lock file', () => {
  const lock = (): string => `--lock-file=${join(node.path, 'lock')}`;
  const otherPorts = async (): Promise<string[]> => {
    const [healthz, readOnly] = await freePorts(2);
    return [`--healthz-port=${healthz}`, `--read-only-port=${readOnly}`];
  };

  test('keeps a second agent waiting until the first has ended', async () => {
    const first = await node.healthyAgent([lock()]);
    const second = node.agent([lock(), ...(await otherPorts())]);
    await second.said(/Waiting for the lock file/);
    assert.ok(first.running);
    assert.doesNotMatch(second.text, /Starting kubelet/);
    first.kill('SIGTERM');
    await second.said(startedWork);
    assert.equal((await first.ended).code, 0);
  });

  test('makes the first agent give way when it shall', async () => {
    const first = await node.workingAgent([lock(), '--exit-on-lock-contention']);
    const second = node.agent([lock(), ...(await otherPorts())]);
    assert.equal((await first.ended).code, 0, first.text);
    assert.match(first.text, /Another process wants the lock file/);
    await second.said(startedWork);
  });

  test('is needed for giving way', async () => {
    const agent = node.agent(['--exit-on-lock-contention']);
    assert.equal((await agent.ended).code, 1);
    assert.match(agent.text, /lock-file/);
  });
});

describe('the runtime', () => {
  test('may come later than the agent', async () => {
    await node.stopRuntime();
    node.put('early', idlePod('early', node.image));
    const agent = await node.healthyAgent();
    await agent.said(/Waiting for the container runtime/);
    await node.startRuntime();
    await node.readyPod('early');
    await node.remove('early');
  });

  test('may be killed and come back: pods do not notice, the agent goes on', async () => {
    const agent = await node.healthyAgent();
    const running = await startPod('calm');
    const { length } = agent.text;
    process.kill(node.runtimePid, 'SIGKILL');
    await node.stopRuntime();
    await agent.said(/pleg-relist/, length);
    await node.startRuntime();
    const after = await startPod('next');
    assert.equal(after.size, 1);
    assert.ok(agent.running);
    assert.deepEqual(await node.runtime.running('calm'), running);
    const { status } = await node.readyPod('calm');
    assert.deepEqual(
      status?.containerStatuses?.map(({ restartCount }) => restartCount),
      [0],
    );
    await node.remove('calm');
    await node.remove('next');
  });
});
