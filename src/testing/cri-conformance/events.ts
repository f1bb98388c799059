import assert from 'node:assert/strict';
import { kindOf } from '../../base/errors.ts';
import { ContainerEventType, type ContainerEventResponse } from '../../gen/cri/api.ts';
import type { Examine, World } from './world.ts';

export function eventTests(examine: Examine): void {
  examine('the life of a container is told as events, or events are refused', async (world) => {
    const listener = listen(world);
    const pod = await world.runPod();
    // The stream opens beside our calls: pods are started until one of them is seen.
    await world.until('an event of a pod is seen, or the stream refused', async () => {
      if (listener.refusal !== undefined || listener.events.length > 0) return true;
      await world.runPod();
      return false;
    });
    if (listener.refusal !== undefined) {
      assert.equal(listener.refusal, 'unsupported');
      return;
    }
    const id = await world.start(pod, 'exits-3');
    await world.exited(id);
    await world.subject.cri.removeContainer({ containerId: id });
    const told = (): ContainerEventType[] =>
      listener.events.filter((event) => event.containerId === id).map((event) => event.containerEventType);
    await world.until('the removal is told', async () => told().length >= 4);
    assert.deepEqual(told(), [
      ContainerEventType.CONTAINER_CREATED_EVENT,
      ContainerEventType.CONTAINER_STARTED_EVENT,
      ContainerEventType.CONTAINER_STOPPED_EVENT,
      ContainerEventType.CONTAINER_DELETED_EVENT,
    ]);
    const stopped = listener.events.find(
      (event) => event.containerId === id && event.containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT,
    );
    assert.equal(stopped?.podSandboxStatus?.id, pod.id);
    assert.equal(stopped.containersStatuses.find((status) => status.id === id)?.exitCode, 3);
    listener.stop();
    await listener.ended;
  });
}

interface Listener {
  readonly events: ContainerEventResponse[];
  /** The kind of error that ended the stream. */
  refusal: string | undefined;
  ended?: Promise<void>;
  stop(): void;
}

function listen(world: World): Listener {
  const controller = new AbortController();
  const listener: Listener = { events: [], refusal: undefined, stop: () => controller.abort() };
  listener.ended = collect(world, listener, controller.signal);
  return listener;
}

async function collect(world: World, listener: Listener, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of world.subject.cri.containerEvents(signal)) listener.events.push(event);
  } catch (error) {
    listener.refusal = kindOf(error);
  }
}
