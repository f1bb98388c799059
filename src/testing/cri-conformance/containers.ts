import assert from 'node:assert/strict';
import { ContainerFilter, ContainerState } from '../../gen/cri/api.ts';
import { nobody, ofKind, type Examine, type World } from './world.ts';

export function containerTests(examine: Examine): void {
  examine('a container is created, runs and ends with its exit code', async (world) => {
    const pod = await world.runPod();
    const id = await world.create(pod, 'exits-3');
    const created = await world.container(id);
    assert.equal(created.state, ContainerState.CONTAINER_CREATED);
    assert.ok(created.createdAt > 0n);
    assert.deepEqual([created.startedAt, created.finishedAt], [0n, 0n]);

    await world.subject.cri.startContainer({ containerId: id });
    const exited = await world.exited(id);
    assert.deepEqual([exited.exitCode, exited.reason], [3, 'Error']);
    assert.ok(exited.startedAt > exited.createdAt, 'started before it was created');
    // Not compared with startedAt: containerd takes that time when the start returns, and by then a short program is over.
    assert.ok(exited.finishedAt > exited.createdAt, 'finished before it was created');
  });

  examine('a container that ends well is completed', async (world) => {
    const exited = await world.exited(await world.start(await world.runPod(), 'exits-0'));
    assert.deepEqual([exited.exitCode, exited.reason], [0, 'Completed']);
  });

  examine('a container runs once', async (world) => {
    const { cri } = world.subject;
    const pod = await world.runPod();
    const running = await world.start(pod, 'sleeper');
    const exited = await world.start(pod, 'exits-3');
    await assert.rejects(cri.startContainer({ containerId: running }));
    assert.equal((await world.container(running)).state, ContainerState.CONTAINER_RUNNING);
    const { finishedAt } = await world.exited(exited);
    await assert.rejects(cri.startContainer({ containerId: exited }));
    assert.equal((await world.container(exited)).finishedAt, finishedAt);
  });

  examine('a program that is not there fails the start and leaves an exited container', async (world) => {
    const pod = await world.runPod();
    if (world.has('creation tries the program')) {
      await assert.rejects(world.create(pod, 'no-program'), /no such file or directory/);
      return;
    }
    const id = await world.create(pod, 'no-program');
    await assert.rejects(world.subject.cri.startContainer({ containerId: id }), /no such file or directory/);
    const status = await world.container(id);
    assert.equal(status.state, ContainerState.CONTAINER_EXITED);
    assert.deepEqual([status.exitCode, status.reason, status.startedAt], [128, 'StartError', 0n]);
    assert.match(status.message, /no such file or directory/);
  });

  examine('labels, annotations, attempt and image come back as they were given', async (world) => {
    const pod = await world.runPod();
    const labels = { 'io.kubernetes.container.name': 'app' };
    const annotations = { 'io.kubernetes.container.hash': 'ab12', ports: '[{"containerPort":80}]' };
    const id = await world.create(pod, 'sleeper', { labels, annotations, attempt: 7 });
    const { containers } = await world.subject.cri.listContainers({ filter: ContainerFilter.fromPartial({ id }) });
    const item = containers[0];
    assert.equal(item?.podSandboxId, pod.id);
    for (const seen of [await world.container(id), item]) {
      const uid = pod.config.metadata?.uid;
      assert.deepEqual({ ...seen.labels }, { program: 'sleeper', 'io.kubernetes.pod.uid': uid, ...labels });
      assert.deepEqual({ ...seen.annotations }, annotations);
      assert.deepEqual(seen.metadata, { name: 'sleeper', attempt: 7 });
      assert.equal(seen.image?.image, world.subject.image);
      assert.match(seen.imageRef, /sha256:[0-9a-f]{64}$/);
    }
    assert.equal((await world.container(id)).logPath, `${pod.config.logDirectory}/sleeper/7.log`);
  });

  examine('a name is taken until its container is removed; another attempt is another name', async (world) => {
    const pod = await world.runPod();
    const id = await world.start(pod, 'exits-0');
    const isTaken = async (): Promise<void> => {
      const again = world.create(pod, 'exits-0');
      if (world.has('taken names are answered')) assert.equal(await again, id);
      else await assert.rejects(again, ofKind('alreadyExists'));
    };
    await isTaken();
    await world.exited(id);
    await isTaken();
    await world.create(pod, 'exits-0', { attempt: 1 });
    await world.subject.cri.removeContainer({ containerId: id });
    assert.notEqual(await world.create(pod, 'exits-0'), id);
  });

  examine('there is no container without sandbox or image, and the name stays free', async (world) => {
    const pod = await world.runPod();
    const kind = world.has('some failures have no code') ? 'internal' : 'notFound';
    await assert.rejects(world.create({ ...pod, id: nobody }, 'sleeper'), ofKind(kind));
    await assert.rejects(world.create(pod, 'sleeper', { image: 'localhost/no/such:image' }), ofKind(kind));
    await world.create(pod, 'sleeper');
  });

  examine('containers are listed by id, state, sandbox and labels', async (world) => {
    const one = await world.runPod();
    const two = await world.runPod();
    const running = await world.start(one, 'sleeper', { labels: { side: 'left' } });
    const created = await world.create(one, 'polite', { labels: { side: 'right' } });
    const exited = await world.start(one, 'exits-0', { labels: { side: 'right' } });
    const other = await world.create(two, 'sleeper');
    await world.exited(exited);
    const list = async (filter: Parameters<typeof ContainerFilter.fromPartial>[0]): Promise<string[]> => {
      const request = { filter: ContainerFilter.fromPartial(filter) };
      return (await world.subject.cri.listContainers(request)).containers.map((item) => item.id).sort();
    };
    const inOne = { podSandboxId: one.id };
    assert.deepEqual(await list(inOne), [running, created, exited].sort());
    assert.deepEqual(await list({ podSandboxId: two.id }), [other]);
    assert.deepEqual(await list({ ...inOne, labelSelector: { side: 'right' } }), [created, exited].sort());
    assert.deepEqual(await list({ id: other }), [other]);
    assert.deepEqual(await list({ id: nobody }), []);
    assert.deepEqual(await list({ ...inOne, state: { state: ContainerState.CONTAINER_RUNNING } }), [running]);
    assert.deepEqual(await list({ ...inOne, state: { state: ContainerState.CONTAINER_CREATED } }), [created]);
    assert.deepEqual(await list({ ...inOne, state: { state: ContainerState.CONTAINER_EXITED } }), [exited]);
    assert.deepEqual(await list({ podSandboxId: two.id, labelSelector: { side: 'right' } }), []);
  });

  examine('resources of a running container can be changed', async (world) => {
    const id = await world.start(await world.runPod(), 'sleeper');
    const linux = {
      cpuPeriod: 0n,
      cpuQuota: 0n,
      cpuShares: 200n,
      memoryLimitInBytes: 0n,
      oomScoreAdj: 0n,
      cpusetCpus: '',
      cpusetMems: '',
      hugepageLimits: [],
      unified: {},
      memorySwapLimitInBytes: 0n,
    };
    await world.subject.cri.updateContainerResources({ containerId: id, linux, annotations: {} });
    const seen = (await world.container(id)).resources?.linux;
    // Runtimes need not report resources.
    if (seen !== undefined) assert.equal(seen.cpuShares, 200n);
  });

  examine('a running container has stats', async (world) => {
    const pod = await world.runPod();
    const id = await world.start(pod, 'sleeper');
    const { stats } = await world.subject.cri.containerStats({ containerId: id });
    checkStats(stats, id);
    const filter = { id: '', podSandboxId: pod.id, labelSelector: {} };
    const listed = await world.subject.cri.listContainerStats({ filter });
    assert.equal(listed.stats.length, 1);
    checkStats(listed.stats[0], id);
  });
}

type Stats = Awaited<ReturnType<World['subject']['cri']['containerStats']>>['stats'];

function checkStats(stats: Stats, id: string): void {
  assert.equal(stats?.attributes?.id, id);
  assert.equal(stats.attributes.metadata?.name, 'sleeper');
  assert.ok((stats.cpu?.timestamp ?? 0n) > 0n);
  assert.ok((stats.memory?.workingSetBytes?.value ?? 0n) > 0n);
}
