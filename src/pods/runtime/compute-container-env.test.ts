import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '../../gen/kubernetes/types.ts';
import { desiredPod, type PodSource } from '../../model/desired-pod.ts';
import { goldenLookup } from '../../testing/golden.ts';
import { computeContainerEnv, type EnvLookup } from './compute-container-env.ts';

interface Options {
  readonly spec?: Partial<PodSpec>;
  readonly lookup?: EnvLookup;
  readonly source?: PodSource;
}

const noServices: EnvLookup = { ...goldenLookup(), services: () => [] };

function compute(container: Partial<Container>, options: Options = {}) {
  const pod = desiredPod(options.source ?? 'api', {
    metadata: { uid: 'u', name: 'p', namespace: '{{namespace}}' },
    spec: { containers: [], enableServiceLinks: true, ...options.spec },
  });
  return computeContainerEnv({
    pod,
    container: { name: 'c', ...container },
    podIps: ['10.0.0.1'],
    hostIps: ['192.0.2.1'],
    nodeName: 'node1',
    node: { allocatable: { cpu: '2' } },
    lookup: options.lookup ?? noServices,
  });
}

function values(container: Partial<Container>, options: Options = {}): Record<string, string> {
  const env = compute(container, options);
  if ('refusal' in env) assert.fail(env.refusal.message);
  return Object.fromEntries(env.map(({ key, value }) => [key, value]));
}

function refusal(container: Partial<Container>, options: Options = {}): string | undefined {
  const env = compute(container, options);
  if (!('refusal' in env)) return undefined;
  assert.equal(env.refusal.reason, 'CreateContainerConfigError');
  return env.refusal.message;
}

test('a variable sees those before it, services, and not those after it', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '$(A)-$(C)-$$(A)-$(WEB_SVC_SERVICE_PORT)' },
    { name: 'C', value: '3' },
    { name: 'A', value: '$(A)$(A)' },
    { name: 'E' },
  ];
  const found = values({ env }, { lookup: goldenLookup() });
  assert.deepEqual([found['A'], found['B'], found['E']], ['11', '1-$(C)-$(A)-80', '']);
});

test('whole objects, with prefix, overridden by single variables', () => {
  const container = {
    envFrom: [{ prefix: 'P_', configMapRef: { name: 'cm' } }, { secretRef: { name: 'sec' } }],
    env: [{ name: 'user', value: 'other-$(P_alpha)' }],
  };
  assert.deepEqual(values(container), {
    P_alpha: 'one',
    'P_b.conf': 'two\n',
    P_BETA_KEY: 'three',
    'P_1bad.key': 'x',
    user: 'other-one',
    pass: 'p@ss',
  });
});

test('services only fill what is free', () => {
  const found = values(
    { env: [{ name: 'WEB_SVC_SERVICE_HOST', value: 'mine' }] },
    { lookup: goldenLookup('10.1.1.1') },
  );
  assert.equal(found['WEB_SVC_SERVICE_HOST'], 'mine');
  assert.equal(found['WEB_SVC_PORT'], 'tcp://10.1.1.1:80');
});

test('fields and amounts', () => {
  const env = [
    { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
  ];
  assert.deepEqual(values({ env }), { N: 'p', C: '2' });
});

test('what is missing refuses the container, unless it is optional', () => {
  const cases: readonly (readonly [Partial<Container>, string])[] = [
    [{ envFrom: [{ configMapRef: { name: 'no' } }] }, 'configmap "no" not found'],
    [{ envFrom: [{ secretRef: { name: 'no' } }] }, 'secret "no" not found'],
    [
      { env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'cm', key: 'no' } } }] },
      "couldn't find key no in ConfigMap {{namespace}}/cm",
    ],
    [
      { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'sec', key: 'no' } } }] },
      "couldn't find key no in Secret {{namespace}}/sec",
    ],
    [{ env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'no', key: 'k' } } }] }, 'secret "no" not found'],
    [
      { env: [{ name: 'X', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } }] },
      'unsupported fieldPath: status.phase',
    ],
  ];
  for (const [container, message] of cases) assert.equal(refusal(container), message);
  const optional = {
    envFrom: [{ configMapRef: { name: 'no', optional: true } }],
    env: [
      { name: 'X', valueFrom: { configMapKeyRef: { name: 'cm', key: 'no', optional: true } } },
      { name: 'Y', valueFrom: { secretKeyRef: { name: 'no', key: 'k', optional: true } } },
    ],
  };
  assert.deepEqual(values(optional), {});
});

test('before services are known only static pods start', () => {
  const unread: EnvLookup = { ...noServices, services: () => undefined };
  assert.equal(
    refusal({}, { lookup: unread }),
    'services have not yet been read at least once, cannot construct envvars',
  );
  assert.deepEqual(values({}, { lookup: unread, source: 'file' }), {});
});

test('variables that double each other are refused, not computed', () => {
  const env = [{ name: 'V0', value: 'xx' }];
  for (let level = 1; level < 64; level++) env.push({ name: `V${level}`, value: `$(V${level - 1})$(V${level - 1})` });
  assert.match(refusal({ env }) ?? '', /more than 2097152 bytes once references are expanded/);
});

test('objects that no process could be given are refused, whichever way they are taken', () => {
  const data = Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`k${index}`, 'x'.repeat(1_000_000)]));
  const lookup: EnvLookup = { ...noServices, configMap: () => ({ data }) };
  assert.match(refusal({ envFrom: [{ configMapRef: { name: 'big' } }] }, { lookup }) ?? '', /more than 2097152 bytes/);
  const env = Object.keys(data).map((key) => ({ name: key, valueFrom: { configMapKeyRef: { name: 'big', key } } }));
  assert.match(refusal({ env }, { lookup }) ?? '', /more than 2097152 bytes/);
});

test('a thousand variables from one large Secret decode a thousand values, not a million', () => {
  const value = Buffer.from('x'.repeat(1_000)).toString('base64');
  const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
  let reads = 0;
  const read = (): string => {
    reads++;
    return value;
  };
  const data = Object.defineProperties(
    {},
    Object.fromEntries(keys.map((key) => [key, { enumerable: true, get: read }])),
  ) as Record<string, string>;
  const lookup: EnvLookup = { ...noServices, secret: () => ({ data }) };
  const env = keys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: 'big', key } } }));
  assert.equal(Object.keys(values({ env }, { lookup })).length, 1_000);
  assert.equal(reads, 1_000);
});

test('values are bytes: a Secret need not be text, also where another variable refers to it', () => {
  const bytes = Buffer.from([0x61, 0xff, 0x00, 0xc3, 0xa9]);
  const lookup: EnvLookup = { ...noServices, secret: () => ({ data: { key: bytes.toString('base64') } }) };
  const valueFrom = { secretKeyRef: { name: 'any', key: 'key' } };
  const env = compute(
    {
      env: [
        { name: 'A', valueFrom },
        { name: 'B', value: 'é$(A)' },
        { name: 'C', value: '𝄞' },
      ],
    },
    { lookup },
  );
  assert.deepEqual(env, [
    { key: 'A', value: 'a\ufffd\0é', raw: bytes },
    { key: 'B', value: 'éa\ufffd\0é', raw: Buffer.concat([Buffer.from('é'), bytes]) },
    { key: 'C', value: '𝄞' },
  ]);
});
