import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerEventResponse, ContainerEventType } from '../../gen/cri/api.ts';
import { podUidLabel } from '../../model/labels.ts';
import { containerdEventSource, criEventSource, fromContainerd, fromCri } from './event-sources.ts';
import type { RuntimeEvent } from './ports.ts';

const never = new AbortController().signal;
const labels = { [podUidLabel]: 'uid-1' };

const criCases: Readonly<Record<string, readonly [Parameters<typeof ContainerEventResponse.fromPartial>[0], unknown]>> =
  {
    'an exit in a pod': [
      {
        containerId: 'c1',
        containerEventType: ContainerEventType.CONTAINER_STOPPED_EVENT,
        podSandboxStatus: { labels },
      },
      { containerId: 'c1', uid: 'uid-1', state: 'exited' },
    ],
    'a start': [
      {
        containerId: 'c1',
        containerEventType: ContainerEventType.CONTAINER_STARTED_EVENT,
        podSandboxStatus: { labels },
      },
      { containerId: 'c1', uid: 'uid-1', state: 'running' },
    ],
    'a removal after which there is no sandbox': [
      { containerId: 's1', containerEventType: ContainerEventType.CONTAINER_DELETED_EVENT },
      { containerId: 's1', state: 'removed' },
    ],
    'a type from the future': [
      { containerId: 'c1', containerEventType: 9 as ContainerEventType, podSandboxStatus: { labels } },
      { containerId: 'c1', uid: 'uid-1' },
    ],
    'a pod that no kubelet made': [
      { containerId: 'c1', podSandboxStatus: { labels: { 'com.example/a': 'b' } } },
      undefined,
    ],
  };

for (const [name, [response, event]] of Object.entries(criCases)) {
  test(`CRI: ${name}`, () => assert.deepEqual(fromCri(ContainerEventResponse.fromPartial(response)), event));
}

test('containerd names only the container, and its events are unconfirmed', () => {
  const events = (['created', 'started', 'exited', 'removed', 'oom'] as const).map((kind) =>
    fromContainerd({ kind, containerId: 'c1' }),
  );
  assert.deepEqual(events, [
    { containerId: 'c1', unconfirmed: true, state: 'created' },
    { containerId: 'c1', unconfirmed: true, state: 'running' },
    { containerId: 'c1', unconfirmed: true, state: 'exited' },
    { containerId: 'c1', unconfirmed: true, state: 'removed' },
    { containerId: 'c1', unconfirmed: true },
  ]);
});

test('sources pass on the events of pods of a kubelet', async () => {
  const collect = async (events: AsyncIterable<RuntimeEvent>): Promise<(string | undefined)[]> => {
    const ids = [];
    for await (const { containerId } of events) ids.push(containerId);
    return ids;
  };
  const cri = criEventSource({
    async *containerEvents() {
      yield ContainerEventResponse.fromPartial({ containerId: 'c1', podSandboxStatus: { labels } });
      yield ContainerEventResponse.fromPartial({ containerId: 'c2', podSandboxStatus: { labels: {} } });
    },
  });
  const containerd = containerdEventSource({
    async *events() {
      yield { kind: 'exited', containerId: 'c3' };
    },
  });
  assert.deepEqual(await collect(cri.events(never)), ['c1']);
  assert.deepEqual(await collect(containerd.events(never)), ['c3']);
});
