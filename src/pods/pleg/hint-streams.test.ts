import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerEventResponse, ContainerEventType } from '../../gen/cri/api.ts';
import { podUidLabel } from '../../model/labels.ts';
import { containerdHints, criHints, fromContainerd, fromCri } from './hint-streams.ts';
import type { Hint } from './ports.ts';

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
      { containerId: 's1', state: 'gone' },
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

for (const [name, [event, hint]] of Object.entries(criCases)) {
  test(`CRI: ${name}`, () => assert.deepEqual(fromCri(ContainerEventResponse.fromPartial(event)), hint));
}

test('containerd names the container alone, and is ahead', () => {
  const hints = (['created', 'started', 'exited', 'removed', 'oom'] as const).map((kind) =>
    fromContainerd({ kind, containerId: 'c1' }),
  );
  assert.deepEqual(hints, [
    { containerId: 'c1', ahead: true, state: 'created' },
    { containerId: 'c1', ahead: true, state: 'running' },
    { containerId: 'c1', ahead: true, state: 'exited' },
    { containerId: 'c1', ahead: true, state: 'gone' },
    { containerId: 'c1', ahead: true },
  ]);
});

test('streams pass on what is ours', async () => {
  const collect = async (hints: AsyncIterable<Hint>): Promise<(string | undefined)[]> => {
    const ids = [];
    for await (const { containerId } of hints) ids.push(containerId);
    return ids;
  };
  const cri = criHints({
    async *containerEvents() {
      yield ContainerEventResponse.fromPartial({ containerId: 'c1', podSandboxStatus: { labels } });
      yield ContainerEventResponse.fromPartial({ containerId: 'c2', podSandboxStatus: { labels: {} } });
    },
  });
  const containerd = containerdHints({
    async *events() {
      yield { kind: 'exited', containerId: 'c3' };
    },
  });
  assert.deepEqual(await collect(cri.hints(never)), ['c1']);
  assert.deepEqual(await collect(containerd.hints(never)), ['c3']);
});
