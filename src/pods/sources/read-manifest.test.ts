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
  assert.deepEqual(lines(read(list).faults), ['6: spec.containers: expected a list, got a number']);
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
  for (const [value, shown] of [
    ['9223372036854776000', '9223372036854776000'],
    ['[9223372036854776000]', 'a list'],
    ['{a: 9223372036854776000}', 'an object'],
    ['x'.repeat(1_000), `"${'x'.repeat(99)}`],
  ] as const) {
    assert.deepEqual(lines(read(`apiVersion: ${value}\nkind: Pod\n`).faults), [
      `1: apiVersion: Unsupported value: ${shown}: supported values: "v1"`,
    ]);
    assert.deepEqual(lines(read(`kind: ${value}\napiVersion: v1\n`).faults), [
      `1: kind: Unsupported value: ${shown}: supported values: "Pod", "PodList", "List"`,
    ]);
  }
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

const objects = (manifest: Manifest): string[] =>
  manifest.objects.map(({ kind, namespace, name, path, line }) => `${kind} ${namespace}/${name} ${path}:${line}`);
const withObjects: Partial<ManifestOptions> = { allowFolderObjects: true };

test('config maps and secrets beside pods, where they are allowed', () => {
  const text = `${pod('web')}---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  colour: red
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: token, namespace: ns}
  data:
    a: b2xk
  stringData:
    a: new
`;
  const manifest = read(text, withObjects);
  assert.deepEqual(manifest.faults, []);
  assert.deepEqual(names(manifest), ['web-node_default']);
  assert.deepEqual(objects(manifest), ['ConfigMap default/settings /m/a.yaml:10', 'Secret ns/token /m/a.yaml:19']);
  assert.deepEqual(manifest.objects[1]?.object, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'token', namespace: 'ns' },
    type: 'Opaque',
    data: { a: 'bmV3' },
  });
});

test('config maps and secrets are faults elsewhere, and the fault names where they count', () => {
  const manifest = read('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
  assert.deepEqual(manifest.objects, []);
  const hint = 'ConfigMaps and Secrets are read only from the manifest folder of a node without an API server';
  const values = '"Pod", "PodList", "List"';
  assert.deepEqual(lines(manifest.faults), [
    `2: kind: Unsupported value: "ConfigMap": supported values: ${values}; ${hint}`,
  ]);
  assert.deepEqual(lines(read('apiVersion: v1\nkind: Deployment\n', withObjects).faults), [
    '2: kind: Unsupported value: "Deployment": supported values: "Pod", "ConfigMap", "Secret", "PodList", "List"',
  ]);
  const inPodList = read('{apiVersion: v1, kind: PodList, items: [{kind: Secret, metadata: {name: a}}]}', withObjects);
  assert.match(lines(inPodList.faults)[0] ?? '', /^1: items\[0\]\.kind: Unsupported value: "Secret"/);
});

test('faults of objects lead to their lines and show no values of secrets', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: token}\n';
  const cases: readonly (readonly [string, string])[] = [
    [`${secret}stringData:\n  a: x\n  b c: hunter2\n`, '6: stringData[b c]: Invalid value: "b c"'],
    [`${secret}data:\n  a: hunter2\n`, '5: data[a]: expected bytes in base64, got a string'],
    [`${secret}stringData:\n  pin: 4711\n`, '5: stringData[pin]: expected a string, got a number'],
    [`${secret}type: kubernetes.io/tls\n`, '1: data[tls.crt]: Required value'],
    [secret.replace('token', 'T_oken'), '3: metadata.name: Invalid value: "T_oken"'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a/b: x\n', '5: data[a/b]: Invalid value: "a/b"'],
  ];
  for (const [text, expected] of cases) {
    const manifest = read(text, withObjects);
    const found = lines(manifest.faults);
    assert.equal(found[0]?.slice(0, expected.length), expected);
    assert.deepEqual(manifest.objects, []);
    assert.ok(!/hunter2|4711/.test(JSON.stringify(manifest)), JSON.stringify(manifest));
  }
});

test('pods may refer to objects of the folder, and to nothing else of the API', () => {
  const uses = '  volumes: [{name: v, secret: {secretName: token}}]\n';
  assert.deepEqual(lines(read(pod('web', uses)).faults), ['1: pod web: static pods may not reference secrets']);
  assert.deepEqual(names(read(pod('web', uses), withObjects)), ['web-node_default']);
  const account = read(pod('web', `${uses}  serviceAccountName: robot\n`), withObjects);
  assert.deepEqual(lines(account.faults), ['1: pod web: static pods may not reference serviceaccounts']);
});
