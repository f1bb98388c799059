import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desiredPod, type DesiredPod } from '../../model/desired-pod.ts';
import type { StandaloneObject } from '../../model/standalone-object.ts';
import { settleMs, classifyManifest, type FileState, type ManifestReading } from './classify-manifest.ts';

const pod = (name: string): DesiredPod =>
  desiredPod('file', { metadata: { uid: name, name, namespace: 'ns' }, spec: { containers: [] } });
const good = (digest: string, ...pods: readonly DesiredPod[]): ManifestReading => ({
  version: digest,
  digest,
  manifest: { pods, objects: [], warnings: [], faults: [] },
});
const faulty = (digest: string, ...pods: readonly DesiredPod[]): ManifestReading => ({
  version: digest,
  digest,
  manifest: { pods, objects: [], warnings: [], faults: [{ message: 'bad' }] },
});
/** Kind and names after a sequence of readings, each with its time. */
function after(...readings: readonly (readonly [number, ManifestReading])[]): string {
  const state = readings.reduce<FileState | undefined>(
    (previous, [now, reading]) => classifyManifest(previous, reading, now),
    undefined,
  );
  return `${state?.kind} ${state?.pods.map((one) => one.name).join(' ')}`;
}

const a = pod('a');
const b = pod('b');

test('good texts count at once', () => {
  assert.equal(after([0, good('1', a)]), 'good a');
  assert.equal(after([0, good('1', a)], [1, good('2', b)]), 'good b');
  assert.equal(after([0, faulty('1')], [1, good('2', b)]), 'good b');
});

test('a faulty text is unstable first, then believed', () => {
  assert.equal(after([0, faulty('1', a)]), 'unstable ');
  assert.equal(after([0, faulty('1', a)], [settleMs - 1, faulty('1', a)]), 'unstable ');
  assert.equal(after([0, faulty('1', a)], [settleMs, faulty('1', a)]), 'bad a');
});

test('a text that still changes stays unstable', () => {
  assert.equal(after([0, faulty('1')], [settleMs, faulty('2')]), 'unstable ');
  assert.equal(after([0, faulty('1')], [settleMs, faulty('2')], [2 * settleMs, faulty('2')]), 'bad ');
});

test('the last good pods stand until they are renewed', () => {
  const start = [0, good('1', a, b)] as const;
  assert.equal(after(start, [1, faulty('2')]), 'unstable a b');
  assert.equal(after(start, [1, faulty('2')], [500, faulty('2')]), 'bad a b');
  const newer = pod('b');
  const state = [faulty('2', newer), faulty('2', newer)].reduce<FileState | undefined>(
    (previous, reading, index) => classifyManifest(previous, reading, index * settleMs),
    classifyManifest(undefined, good('1', a, b), 0),
  );
  assert.deepEqual(state?.pods, [newer, a]);
  assert.equal(state.pods[0], newer);
  assert.equal(after(start, [1, faulty('2')], [500, faulty('2')], [501, faulty('3')], [999, faulty('3')]), 'bad a b');
});

test('a bad file stays bad while its text stays', () => {
  assert.equal(after([0, faulty('1')], [settleMs, faulty('1')], [settleMs + 1, faulty('1')]), 'bad ');
});

test('objects are kept and renewed as pods are', () => {
  const object = (name: string, value: string): StandaloneObject => ({
    kind: 'ConfigMap',
    namespace: 'ns',
    name,
    path: '/m',
    line: 1,
    object: { data: { k: value } },
  });
  const reading = (digest: string, faults: number, ...objects: readonly StandaloneObject[]): ManifestReading => ({
    version: digest,
    digest,
    manifest: { pods: [], objects, warnings: [], faults: faults === 0 ? [] : [{ message: 'bad' }] },
  });
  const [x, y, newer] = [object('x', '1'), object('y', '1'), object('y', '2')];
  const start = classifyManifest(undefined, reading('1', 0, x, y), 0);
  const unstable = classifyManifest(start, reading('2', 1, newer), 1);
  assert.deepEqual(unstable.objects, [x, y]);
  const bad = classifyManifest(unstable, reading('2', 1, newer), 1 + settleMs);
  assert.deepEqual(bad.objects, [newer, x]);
  assert.deepEqual(bad.kind === 'bad' && bad.kept.objects, [x]);
});
