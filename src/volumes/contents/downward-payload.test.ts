import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DownwardAPIVolumeFile } from '../../gen/kubernetes/types.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { downwardPayload } from './downward-payload.ts';

const facts = { node: { allocatable: { cpu: '4', memory: '8Gi' } }, nodeName: 'n1', hostIps: () => ['192.0.2.1'] };
const field = (path: string, fieldPath: string): DownwardAPIVolumeFile => ({ path, fieldRef: { fieldPath } });
const amount = (path: string, containerName: string, resource: string, divisor?: string): DownwardAPIVolumeFile => ({
  path,
  resourceFieldRef: { containerName, resource, ...(divisor && { divisor }) },
});
const pod = aPod({
  metadata: { labels: { b: '2', a: 'say "hi"' }, annotations: { note: 'x' } },
  spec: {
    containers: [aContainer('main', { resources: { limits: { cpu: '250m' }, requests: { memory: '32Mi' } } })],
    initContainers: [aContainer('prepare')],
  },
});
const texts = (...items: readonly DownwardAPIVolumeFile[]): Record<string, string> =>
  Object.fromEntries(
    [...downwardPayload(pod, items, 0o644, facts)].map(([path, { content }]) => [
      path,
      Buffer.from(content).toString(),
    ]),
  );

test('fields of the pod', () => {
  assert.deepEqual(
    texts(
      field('name', 'metadata.name'),
      field('namespace', 'metadata.namespace'),
      field('uid', 'metadata.uid'),
      field('labels', 'metadata.labels'),
      field('one', "metadata.labels['b']"),
      field('notes', 'metadata.annotations'),
    ),
    { name: 'web', namespace: 'default', uid: 'uid-1', labels: 'a="say \\"hi\\""\nb="2"', one: '2', notes: 'note="x"' },
  );
});

test('amounts of containers; without a limit all that pods may have, for init containers too', () => {
  assert.deepEqual(
    texts(
      amount('cpu', 'main', 'limits.cpu', '1m'),
      amount('up', 'main', 'limits.cpu'),
      amount('memory', 'main', 'limits.memory', '1Gi'),
      amount('asked', 'main', 'requests.memory', '1Mi'),
      amount('init', 'prepare', 'limits.cpu'),
    ),
    { cpu: '250', up: '1', memory: '8', asked: '32', init: '4' },
  );
});

test('modes', () => {
  const made = downwardPayload(
    pod,
    [field('a', 'metadata.name'), { ...field('b', 'metadata.name'), mode: 0o400 }],
    0o600,
    facts,
  );
  assert.deepEqual([made.get('a')?.mode, made.get('b')?.mode], [0o600, 0o400]);
});

test('the error names all items that cannot be resolved', () => {
  assert.throws(() => texts(field('x', 'spec.nope'), amount('y', 'nobody', 'limits.cpu'), { path: 'z' }), {
    message: '[unsupported fieldPath: spec.nope, container nobody not found, downward file z has no source]',
  });
});
