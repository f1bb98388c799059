import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPodRules } from '../../model/validation/index.ts';
import type { Finding, Manifest, ManifestOptions } from './manifest.ts';
import { readManifest } from './read-manifest.ts';

const options: ManifestOptions = {
  nodeName: 'node',
  source: 'file',
  origin: '/m/a.yaml',
  seen: '2025-01-01T00:00:00Z',
  preventApiReferences: true,
  rules: defaultPodRules,
};
const read = (text: string, changes: Partial<ManifestOptions> = {}): Manifest =>
  readManifest(text, { ...options, ...changes });
const lines = (findings: readonly Finding[]): string[] => findings.map(({ line, message }) => `${line}: ${message}`);
const names = (manifest: Manifest): string[] => manifest.pods.map((pod) => pod.fullName);

const pod = (name: string, more = ''): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n${more}  containers:\n  - name: c\n    image: i\n`;

test('one pod, complete', () => {
  const manifest = read(pod('web'));
  assert.deepEqual(manifest.faults, []);
  assert.deepEqual(names(manifest), ['web-node_default']);
  const [web] = manifest.pods;
  assert.equal(web?.source, 'file');
  assert.equal(web.spec.restartPolicy, 'Always');
  assert.equal(web.metadata.annotations?.['kubernetes.io/config.hash'], web.uid);
  assert.equal(web.status.phase, 'Pending');
});

test('JSON is read as well', () => {
  const json = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'j' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  assert.deepEqual(names(read(json)), ['j-node_default']);
});

test('several documents, lists and typed lists', () => {
  const text = `${pod('one')}---\n# nothing\n---\n${pod('two')}`;
  assert.deepEqual(names(read(text)), ['one-node_default', 'two-node_default']);
  const item = '{metadata: {name: x}, spec: {containers: [{name: c, image: i}]}}';
  assert.deepEqual(names(read(`{apiVersion: v1, kind: PodList, items: [${item}]}`)), ['x-node_default']);
  const typed = item.replace('{', '{kind: Pod, apiVersion: v1, ');
  assert.deepEqual(names(read(`{apiVersion: v1, kind: List, items: [${typed}]}`)), ['x-node_default']);
  assert.deepEqual(lines(read(`apiVersion: v1\nkind: List\nitems:\n- ${item}\n`).faults), [
    '4: items[0].kind: Required value',
  ]);
  assert.deepEqual(read('{apiVersion: v1, kind: PodList, items: []}'), {
    pods: [],
    objects: [],
    warnings: [],
    faults: [],
  });
});

test('faults name the line of the file, also in later documents and lists', () => {
  const text = `${pod('one')}---\n${pod('two').replace('image: i', 'image: ""\n    imagePullPolicy: x')}`;
  const manifest = read(text);
  assert.deepEqual(names(manifest), ['one-node_default']);
  assert.deepEqual(lines(manifest.faults), [
    '17: spec.containers[0].image: Required value',
    '18: spec.containers[0].imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"',
  ]);
  const list = 'apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n  spec:\n    containers: 5\n';
  assert.deepEqual(lines(read(list).faults), ['6: spec.containers: expected a list, got number 5']);
});

test('unknown fields are only warned of', () => {
  const manifest = read(pod('web', '  restartPolcy: Never\n'));
  assert.deepEqual(names(manifest), ['web-node_default']);
  assert.deepEqual(lines(manifest.warnings), [
    '6: spec.restartPolcy: unknown field, ignored; did you mean "restartPolicy"?',
  ]);
});

test('a key that stands twice is warned of, the last one counts', () => {
  const manifest = read(pod('web', '  hostname: a\n  hostname: b\n'));
  assert.equal(manifest.pods[0]?.spec.hostname, 'b');
  assert.equal(manifest.warnings.length, 1);
  assert.equal(manifest.warnings[0]?.line, 7);
});

test('texts that hold no pod', () => {
  assert.deepEqual(read('').faults, [{ message: 'it holds no pod' }]);
  assert.deepEqual(read('# only words\n').faults, [{ message: 'it holds no pod' }]);
  assert.match(lines(read('- a\n').faults)[0] ?? '', /^1: expected a pod/);
  assert.deepEqual(lines(read('apiVersion: v1\nkind: Deployment\n').faults), [
    '2: kind: Unsupported value: "Deployment": supported values: "Pod", "PodList", "List"',
  ]);
  assert.deepEqual(lines(read('apiVersion: apps/v1\nkind: Pod\n').faults), [
    '1: apiVersion: Unsupported value: "apps/v1": supported values: "v1"',
  ]);
  assert.deepEqual(lines(read('kind: Pod\n').faults), ['1: apiVersion: Required value']);
  const broken = read('kind: Pod\nmetadata: {name: a\nspec: [\n');
  assert.equal(broken.faults.length, 1);
  assert.ok((broken.faults[0]?.line ?? 0) >= 2);
});

test('references to API objects are refused while the gate is on', () => {
  const text = pod('web', '  serviceAccountName: robot\n');
  assert.deepEqual(lines(read(text).faults), ['1: pod web: static pods may not reference serviceaccounts']);
  assert.deepEqual(names(read(text, { preventApiReferences: false })), ['web-node_default']);
});

test('the name is checked as it will be', () => {
  assert.deepEqual(read(pod('web'), { nodeName: 'n'.repeat(250) }).pods, []);
  assert.deepEqual(lines(read(pod('""')).faults), ['4: metadata.name: Required value']);
});
