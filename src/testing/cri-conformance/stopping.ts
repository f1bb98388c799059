import assert from 'node:assert/strict';
import { ContainerState } from '../../gen/cri/api.ts';
import { ofKind, type Examine } from './world.ts';

export function stoppingTests(examine: Examine): void {
  examine('a container that heeds SIGTERM ends by itself within the grace', async (world) => {
    const { cri, clock } = world.subject;
    const id = await world.startReady(await world.runPod(), 'polite');
    const began = clock.monotonic();
    await cri.stopContainer({ containerId: id, timeout: 60n });
    assert.ok(clock.monotonic() - began < 50_000, 'waited for the whole grace');
    const status = await world.container(id);
    assert.deepEqual([status.state, status.exitCode], [ContainerState.CONTAINER_EXITED, 5]);
  });

  examine('a container that ignores SIGTERM is killed after the grace', async (world) => {
    const { cri, clock } = world.subject;
    const id = await world.startReady(await world.runPod(), 'stubborn');
    const began = clock.monotonic();
    await cri.stopContainer({ containerId: id, timeout: 1n });
    assert.ok(clock.monotonic() - began >= 990, 'did not wait for the grace');
    const status = await world.container(id);
    assert.deepEqual([status.state, status.exitCode], [ContainerState.CONTAINER_EXITED, 137]);
  });

  examine('without a grace the kill comes at once', async (world) => {
    const id = await world.startReady(await world.runPod(), 'polite');
    await world.subject.cri.stopContainer({ containerId: id, timeout: 0n });
    const { exitCode } = await world.container(id);
    assert.ok(exitCode === 137 || (exitCode === 5 && world.has('kills are announced')), `exit code ${exitCode}`);
  });

  examine('stopping what does not run changes nothing', async (world) => {
    const { cri } = world.subject;
    const pod = await world.runPod();
    const created = await world.create(pod, 'sleeper');
    const exited = await world.start(pod, 'exits-3');
    const before = await world.exited(exited);
    await cri.stopContainer({ containerId: created, timeout: 1n });
    await cri.stopContainer({ containerId: exited, timeout: 1n });
    const left = world.has('created containers are stopped')
      ? ContainerState.CONTAINER_EXITED
      : ContainerState.CONTAINER_CREATED;
    assert.equal((await world.container(created)).state, left);
    const after = await world.container(exited);
    assert.equal(after.exitCode, before.exitCode);
    if (!world.has('stopping moves the end')) assert.equal(after.finishedAt, before.finishedAt);
  });

  examine('a running container can be removed, and removed again', async (world) => {
    const { cri } = world.subject;
    const id = await world.start(await world.runPod(), 'sleeper');
    await cri.removeContainer({ containerId: id });
    await assert.rejects(world.container(id), ofKind('notFound'));
    await cri.removeContainer({ containerId: id });
  });

  examine('stopping a sandbox kills its containers and keeps their records', async (world) => {
    const { cri } = world.subject;
    const pod = await world.runPod();
    const running = await world.start(pod, 'sleeper');
    const created = await world.create(pod, 'polite');
    await cri.stopPodSandbox({ podSandboxId: pod.id });
    const status = await world.container(running);
    assert.deepEqual([status.state, status.exitCode], [ContainerState.CONTAINER_EXITED, 137]);
    assert.ok(status.finishedAt >= status.startedAt);
    await assert.rejects(cri.startContainer({ containerId: created }));
    await assert.rejects(world.create(pod, 'stubborn'));
  });

  examine('a caller can give a call up by signal or by time, and the container lives on', async (world) => {
    const { cri } = world.subject;
    const id = await world.startReady(await world.runPod(), 'stubborn');
    const controller = new AbortController();
    const stop = cri.stopContainer({ containerId: id, timeout: 600n }, { signal: controller.signal });
    controller.abort();
    await assert.rejects(stop, ofKind('cancelled'));
    const late = cri.stopContainer({ containerId: id, timeout: 600n }, { timeoutMs: 50 });
    await assert.rejects(late, ofKind('timeout'));
    assert.equal((await world.container(id)).state, ContainerState.CONTAINER_RUNNING);
    // A grace that was shortened since wins over those that were given up.
    await cri.stopContainer({ containerId: id, timeout: 1n });
    assert.equal((await world.container(id)).state, ContainerState.CONTAINER_EXITED);
  });
}
