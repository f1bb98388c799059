import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYamlDocuments } from '../base/yaml.ts';
import { decodeObject, type Problem } from './decode-object.ts';

function decodeYaml(text: string): { readonly object: unknown; readonly problems: readonly Problem[] } {
  const [document] = parseYamlDocuments(text);
  return decodeObject('Pod', document!.value, (path) => document!.lineOf(path));
}

const described = (problems: readonly Problem[]): string[] =>
  problems.map(({ severity, line, message }) => `${severity} ${line} ${message}`);

test('a pod comes out as it was written, with required fields filled', () => {
  const { object, problems } = decodeYaml(`
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec:
  hostNetwork: true
  containers:
  - name: main
    image: nginx
    ports: [{ containerPort: 80 }]
    livenessProbe: { httpGet: { port: http } }
    readinessProbe: { tcpSocket: {} }
`);
  assert.deepEqual(problems, []);
  assert.deepEqual(object, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: {
      hostNetwork: true,
      containers: [
        {
          name: 'main',
          image: 'nginx',
          ports: [{ containerPort: 80 }],
          livenessProbe: { httpGet: { port: 'http' } },
          readinessProbe: { tcpSocket: { port: 0 } },
        },
      ],
    },
  });
});

test('unknown fields are warned of with line and nearest name, and dropped', () => {
  const { object, problems } = decodeYaml(`metadata: { name: web }
spec:
  restartpolicy: Never
  containers:
  - name: a
    volumeMount: []
    whatever: 1
`);
  assert.deepEqual(described(problems), [
    'warning 3 spec.restartpolicy: unknown field, ignored; did you mean "restartPolicy"?',
    'warning 6 spec.containers[0].volumeMount: unknown field, ignored; did you mean "volumeMounts"?',
    'warning 7 spec.containers[0].whatever: unknown field, ignored',
  ]);
  assert.deepEqual(object, { metadata: { name: 'web' }, spec: { containers: [{ name: 'a' }] } });
});

test('wrong types are errors that say where, what was expected and what stood there', () => {
  const { problems } = decodeYaml(`metadata:
  name: 7
  labels: [a]
  annotations: { port: 80 }
spec:
  hostNetwork: "true"
  priority: 1.5
  activeDeadlineSeconds: soon
  containers:
    name: a
  volumes:
  - just-text
  - name: v
    emptyDir: { sizeLimit: lots }
`);
  assert.deepEqual(described(problems), [
    'error 4 metadata.annotations[port]: expected a string, got number 80',
    'error 3 metadata.labels: expected a map, got a list',
    'error 2 metadata.name: expected a string, got number 7',
    'error 8 spec.activeDeadlineSeconds: expected a whole number of 64 bits, got string "soon"',
    'error 9 spec.containers: expected a list, got an object',
    'error 6 spec.hostNetwork: expected true or false, got string "true"',
    'error 7 spec.priority: expected a whole number of 32 bits, got number 1.5',
    'error 12 spec.volumes[0]: expected an object, got a string',
    'error 14 spec.volumes[1].emptyDir.sizeLimit: expected a quantity such as 500m, 2 or 1.5Gi, got string "lots"',
  ]);
});

const scalars: readonly (readonly [string, object, object | undefined])[] = [
  ['int32 at its limits', { priority: -(2 ** 31) }, { priority: -(2 ** 31) }],
  ['int32 beyond', { priority: 2 ** 31 }, undefined],
  ['int64 beyond int32', { activeDeadlineSeconds: 2 ** 40 }, { activeDeadlineSeconds: 2 ** 40 }],
  ['int64 beyond', { activeDeadlineSeconds: 2 ** 63 }, undefined],
  ['minus zero', { priority: -0 }, { priority: 0 }],
  ['not a number', { priority: Number.NaN }, undefined],
  ['a number as quantity', { overhead: { cpu: 2 } }, { overhead: { cpu: '2' } }],
  ['a fraction as quantity', { overhead: { cpu: 0.5 } }, { overhead: { cpu: '500m' } }],
  ['equal quantities are equal texts', { overhead: { memory: '1024Mi' } }, { overhead: { memory: '1Gi' } }],
  ['a truth value as quantity', { overhead: { memory: true } }, undefined],
  ['null is absent', { priority: null, containers: null, nodeSelector: null }, {}],
  ['null in a list keeps its place', { tolerations: [null] }, { tolerations: [{}] }],
  ['null in a map', { nodeSelector: { a: null } }, { nodeSelector: { a: '' } }],
];
for (const [name, spec, expected] of scalars) {
  test(`scalars: ${name}`, () => {
    const { object, problems } = decodeObject('PodSpec', spec, () => 1);
    assert.equal(problems.length, expected === undefined ? 1 : 0);
    if (expected !== undefined) assert.deepEqual(object, { containers: [], ...expected });
  });
}

test('times are RFC 3339', () => {
  for (const [text, good] of [
    ['2025-01-02T03:04:05Z', true],
    ['2025-01-02T03:04:05.123456+02:00', true],
    ['2025-01-02', false],
    ['2025-13-02T03:04:05Z', false],
  ] as const) {
    assert.equal(decodeObject('ObjectMeta', { creationTimestamp: text }, () => 1).problems.length, good ? 0 : 1, text);
  }
});

test('keys of the language itself are mere keys', () => {
  const hostile: unknown = JSON.parse(
    '{"metadata":{"labels":{"__proto__":"x"}},"__proto__":{"kind":"Evil"},"constructor":{}}',
  );
  const { object, problems } = decodeObject('Pod', hostile, () => 1);
  assert.equal(object.kind, undefined);
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
  assert.deepEqual(Object.keys(object.metadata?.labels ?? {}), ['__proto__']);
  assert.deepEqual(
    problems.map((problem) => problem.path),
    [['__proto__'], ['constructor']],
  );
});

test('what unfolds without end is refused', () => {
  const value = { value: 'x'.repeat(3) };
  const env = Array.from({ length: 2_000 }, () => value);
  const containers = Array.from({ length: 2_000 }, () => ({ env }));
  const { problems } = decodeObject('PodSpec', { containers }, () => 1);
  assert.match(problems[0]?.message ?? '', /more than 1000000 values/);
  assert.equal(problems.length, 1);
});

test('an error is seen behind any number of warnings', () => {
  const unknown = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`odd${index}`, 1]));
  const { problems } = decodeObject('PodSpec', { ...unknown, priority: 'high' }, () => 1);
  assert.equal(problems.length, 101);
  assert.equal(problems.at(-1)?.severity, 'error');
});

test('no object at all', () => {
  assert.deepEqual(described(decodeObject('Pod', 'text', () => 3).problems), [
    'error 3 expected an object, got a string',
  ]);
});

test('what may be confidential is not repeated where it does not belong', () => {
  const { problems } = decodeYaml(`spec:
  containers:
  - name: a
    command: [serve, --pin, 4711]
    env:
    - { name: A, value: 4711 }
    - { name: B, valueFrom: "4711" }
    - "4711"
    startupProbe: { httpGet: { port: 80, httpHeaders: [{ name: A, value: 4711 }] } }
  - "4711"
`);
  assert.deepEqual(described(problems), [
    'error 4 spec.containers[0].command[2]: expected a string, got a number',
    'error 6 spec.containers[0].env[0].value: expected a string, got a number',
    'error 7 spec.containers[0].env[1].valueFrom: expected an object, got a string',
    'error 8 spec.containers[0].env[2]: expected an object, got a string',
    'error 9 spec.containers[0].startupProbe.httpGet.httpHeaders[0].value: expected a string, got a number',
    'error 10 spec.containers[1]: expected an object, got a string',
  ]);
  for (const type of ['ConfigMap', 'Secret'] as const) {
    const values = { data: { pin: 4711, text: { a: '4711' } } };
    assert.ok(!JSON.stringify(decodeObject(type, values, () => 1).problems).includes('4711'), type);
  }
});
