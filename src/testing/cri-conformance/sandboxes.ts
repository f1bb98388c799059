import assert from 'node:assert/strict';
import { handshake } from '../../cri/index.ts';
import { PodSandboxFilter, PodSandboxState } from '../../gen/cri/api.ts';
import { nobody, ofKind, type Examine } from './world.ts';

export function sandboxTests(examine: Examine): void {
  examine('says who it is', async ({ subject }) => {
    const version = await subject.cri.version({ version: '0.1.0' });
    assert.equal(version.runtimeApiVersion, 'v1');
    const greeted = await handshake(subject.cri);
    assert.equal(greeted.name, version.runtimeName);
    assert.notEqual(greeted.version, '');
  });

  examine('is ready, and soon so is its network', async (world) => {
    const condition = async (wanted: string): Promise<boolean | undefined> => {
      const { status } = await world.subject.cri.status({ verbose: false });
      return status?.conditions.find(({ type }) => type === wanted)?.status;
    };
    assert.equal(await condition('RuntimeReady'), true);
    await world.until('the network is ready', async () => (await condition('NetworkReady')) === true);
  });

  examine('a sandbox runs, stops and goes, and each may be asked for twice', async (world) => {
    const { cri, clock } = world.subject;
    const before = BigInt(Math.floor(clock.now())) * 1_000_000n;
    const labels = { app: 'web', 'example.com/tier': 'front' };
    const annotations = { note: 'with spaces, "quotes" and ünïcode' };
    const pod = await world.runPod({ labels, annotations });
    const status = await world.sandbox(pod.id);
    assert.equal(status.id, pod.id);
    assert.equal(status.state, PodSandboxState.SANDBOX_READY);
    assert.deepEqual(status.metadata, pod.config.metadata);
    // Runtimes may add labels of their own.
    assert.deepEqual({ ...status.labels, ...pod.config.labels }, { ...status.labels });
    assert.deepEqual({ ...status.annotations }, annotations);
    assert.ok(status.createdAt >= before, 'made before it was asked for');
    assert.match(status.network?.ip ?? '', /^[0-9a-f.:]+$/);

    await cri.stopPodSandbox({ podSandboxId: pod.id });
    assert.equal((await world.sandbox(pod.id)).state, PodSandboxState.SANDBOX_NOTREADY);
    await cri.stopPodSandbox({ podSandboxId: pod.id });
    await cri.removePodSandbox({ podSandboxId: pod.id });
    await cri.removePodSandbox({ podSandboxId: pod.id });
    await cri.stopPodSandbox({ podSandboxId: pod.id });
    await assert.rejects(world.sandbox(pod.id), ofKind('notFound'));
  });

  examine('a sandbox on the host network has no address of its own', async (world) => {
    const pod = await world.runPod({ hostNetwork: true });
    assert.equal((await world.sandbox(pod.id)).network?.ip ?? '', '');
  });

  examine('two sandboxes have two addresses', async (world) => {
    const [one, two] = [await world.runPod(), await world.runPod()];
    assert.notEqual((await world.sandbox(one.id)).network?.ip, (await world.sandbox(two.id)).network?.ip);
  });

  examine('a name is taken until its sandbox is removed; another attempt is another name', async (world) => {
    const { cri } = world.subject;
    const pod = await world.runPod();
    const isTaken = async (): Promise<void> => {
      const again = cri.runPodSandbox({ config: pod.config, runtimeHandler: '' });
      if (world.has('taken names are answered')) assert.equal((await again).podSandboxId, pod.id);
      else await assert.rejects(again, ofKind('alreadyExists'));
    };
    await isTaken();
    await cri.stopPodSandbox({ podSandboxId: pod.id });
    await isTaken();
    const metadata = pod.config.metadata;
    assert.ok(metadata !== undefined);
    const next = await world.runPod({}, { ...pod.config, metadata: { ...metadata, attempt: 1 } });
    assert.equal((await world.sandbox(next.id)).metadata?.attempt, 1);
    await cri.removePodSandbox({ podSandboxId: pod.id });
    assert.notEqual((await world.runPod({}, pod.config)).id, pod.id);
  });

  examine('an unknown runtime handler is refused and takes no name', async (world) => {
    const config = world.podConfig();
    await assert.rejects(world.runPod({ runtimeHandler: 'no-such-handler' }, config));
    await world.runPod({}, config);
  });

  examine('sandboxes are listed by id, state and labels', async (world) => {
    const { cri } = world.subject;
    const group = `group-${process.pid}`;
    const one = await world.runPod({ labels: { group, member: 'one' } });
    const two = await world.runPod({ labels: { group, member: 'two' } });
    await cri.stopPodSandbox({ podSandboxId: two.id });
    const list = async (filter: Parameters<typeof PodSandboxFilter.fromPartial>[0]): Promise<string[]> => {
      const { items } = await cri.listPodSandbox({ filter: PodSandboxFilter.fromPartial(filter) });
      return items.map((item) => item.id).sort();
    };
    const both = [one.id, two.id].sort();
    assert.deepEqual(await list({ labelSelector: { group } }), both);
    assert.deepEqual(await list({ labelSelector: { group, member: 'two' } }), [two.id]);
    assert.deepEqual(await list({ labelSelector: { group, member: 'three' } }), []);
    assert.deepEqual(await list({ id: one.id }), [one.id]);
    assert.deepEqual(await list({ id: nobody }), []);
    const ready = { state: PodSandboxState.SANDBOX_READY };
    const notReady = { state: PodSandboxState.SANDBOX_NOTREADY };
    assert.deepEqual(await list({ state: ready, labelSelector: { group } }), [one.id]);
    assert.deepEqual(await list({ state: notReady, labelSelector: { group } }), [two.id]);
    assert.deepEqual(await list({ id: one.id, state: notReady }), []);
    const all = await cri.listPodSandbox({ filter: undefined });
    assert.ok(both.every((id) => all.items.some((item) => item.id === id)));
  });

  examine('removing a sandbox that is alive takes its containers along', async (world) => {
    const { cri } = world.subject;
    const pod = await world.runPod();
    const running = await world.start(pod, 'sleeper');
    await cri.removePodSandbox({ podSandboxId: pod.id });
    await assert.rejects(world.sandbox(pod.id), ofKind('notFound'));
    await assert.rejects(world.container(running), ofKind('notFound'));
  });

  examine('what is not there is not found, and is already stopped and removed', async (world) => {
    const { cri } = world.subject;
    await cri.stopPodSandbox({ podSandboxId: nobody });
    await cri.removePodSandbox({ podSandboxId: nobody });
    await cri.stopContainer({ containerId: nobody, timeout: 1n });
    await cri.removeContainer({ containerId: nobody });
    const stdio = { tty: false, stdin: false, stdout: true, stderr: false };
    const asked: Promise<unknown>[] = [
      cri.podSandboxStatus({ podSandboxId: nobody, verbose: false }),
      cri.containerStatus({ containerId: nobody, verbose: false }),
      cri.startContainer({ containerId: nobody }),
      cri.execSync({ containerId: nobody, cmd: ['true'], timeout: 1n }),
    ];
    if (!world.has('some failures have no code')) {
      asked.push(cri.containerStats({ containerId: nobody }));
      asked.push(cri.reopenContainerLog({ containerId: nobody }));
      asked.push(cri.updateContainerResources({ containerId: nobody, linux: undefined, annotations: {} }));
    }
    if (!world.has('streams are not checked')) {
      asked.push(cri.portForward({ podSandboxId: nobody, port: [80] }));
      asked.push(cri.exec({ containerId: nobody, cmd: ['true'], ...stdio }));
    }
    for (const [index, outcome] of (await Promise.allSettled(asked)).entries()) {
      assert.equal(outcome.status, 'rejected', `call ${index}`);
      ofKind('notFound')(outcome.reason);
    }
  });
}
