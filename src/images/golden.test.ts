import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../gen/kubernetes/types.ts';
import { createFakeCri, type FakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { goldenPod, loadGolden, type GoldenRecord } from '../testing/golden.ts';
import { MemoryEvents } from '../testing/memory-events.ts';

/** The image events of a record, each once; those of the container itself are not ours. */
function recorded({ events }: GoldenRecord): unknown[] {
  const ofContainers = /^(Created|Started|Stopping|Error: )/;
  return events
    .filter(({ message }) => !ofContainers.test(message))
    .map(({ type, reason, message, ...more }) => ({
      type,
      reason,
      message,
      fieldPath: (more as { readonly fieldPath?: string }).fieldPath,
    }));
}

/** What waiting states said, each once. */
function waitingStates({ statuses }: GoldenRecord): unknown[] {
  const states = statuses
    .flatMap((status) => status.containerStatuses ?? [])
    .map(({ state }) => state?.waiting)
    .filter((waiting) => waiting?.message !== undefined);
  return [...new Map(states.map((state) => [JSON.stringify(state), state])).values()];
}

async function replay(name: string, prepare: (cri: FakeCri) => void, times: number) {
  const record = loadGolden(name);
  const pod = goldenPod(record);
  const [container] = pod.spec.containers as [Container];
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  prepare(cri);
  const events = new MemoryEvents();
  const manager = anImageManager({ clock, service: cri, events });
  const refusals: unknown[] = [];
  for (let n = 0; n < times; n++) {
    const ensured = await manager.ensure(pod, container, 'spec.containers{c}', new AbortController().signal);
    if ('refusal' in ensured) refusals.push({ reason: ensured.refusal.reason, message: ensured.refusal.message });
  }
  return { record, events: events.entries, refusals, cri };
}

test('plain: an image that is there', async () => {
  const { record, events, refusals } = await replay('plain', (cri) => cri.images.add('busybox:1.36'), 1);
  assert.deepEqual(events, recorded(record));
  assert.deepEqual(refusals, []);
});

test('pull-never: an image that is not there and must not be pulled', async () => {
  const { record, events, refusals } = await replay('pull-never', () => {}, 1);
  assert.deepEqual(events, recorded(record));
  assert.deepEqual(refusals, waitingStates(record));
});

test('pull-fails: a pull that fails, then the wait', async () => {
  const words =
    'failed to resolve reference "127.0.0.1:9/none:1": failed to do request: ' +
    'Head "http://127.0.0.1:9/v2/none/manifests/1": dial tcp 127.0.0.1:9: connect: connection refused';
  const { record, events, refusals, cri } = await replay(
    'pull-fails',
    ({ images }) => images.scriptPulls('127.0.0.1:9/none:1', { failure: { kind: 'unavailable', message: words } }),
    2,
  );
  assert.deepEqual(events, recorded(record));
  assert.deepEqual(refusals.slice(0, 1), waitingStates(record));
  const asked = record.cri.find(({ verb }) => verb === 'PullImage');
  assert.ok(asked);
  const sent = cri.calls.find(({ verb }) => verb === 'pullImage')?.request as { readonly image: object };
  const { image } = asked.request as { readonly image: Readonly<Record<string, unknown>> };
  assert.deepEqual({ ...sent.image }, { ...sent.image, ...image });
});
