import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '../gen/kubernetes/types.ts';
import { podUid } from '../base/ids.ts';
import { containerResourceValue, podFieldValue } from './field-ref.ts';

const facts = {
  pod: {
    name: 'p',
    namespace: 'n',
    uid: podUid('u'),
    metadata: { labels: { b: 'say "hi"\n', a: '1' }, annotations: { 'x.example/y': 'z' } },
    spec: { containers: [], serviceAccountName: 'sa' },
  },
  podIps: ['10.0.0.1', 'fd00::1'],
  hostIps: ['192.0.2.1', 'fd00::2'],
  nodeName: 'node1',
};

test('fields of the pod', () => {
  const cases: Readonly<Record<string, string>> = {
    'metadata.name': 'p',
    'metadata.namespace': 'n',
    'metadata.uid': 'u',
    'metadata.labels': 'a="1"\nb="say \\"hi\\"\\n"',
    'metadata.annotations': 'x.example/y="z"',
    "metadata.labels['a']": '1',
    "metadata.labels['none']": '',
    "metadata.annotations['x.example/y']": 'z',
    'spec.nodeName': 'node1',
    'spec.serviceAccountName': 'sa',
    'status.hostIP': '192.0.2.1',
    'status.hostIPs': '192.0.2.1,fd00::2',
    'status.podIP': '10.0.0.1',
    'status.podIPs': '10.0.0.1,fd00::1',
  };
  for (const [path, value] of Object.entries(cases)) assert.deepEqual(podFieldValue(facts, path), { value }, path);
  for (const key of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    for (const map of ['labels', 'annotations'])
      assert.deepEqual(podFieldValue(facts, `metadata.${map}['${key}']`), { value: '' }, key);
  }
  assert.deepEqual(podFieldValue(facts, 'spec.priority'), { problem: 'unsupported fieldPath: spec.priority' });
});

const main: Container = {
  name: 'main',
  resources: { requests: { cpu: '250m', memory: '1Mi' }, limits: { memory: '10Mi', 'hugepages-2Mi': '4Mi' } },
};
const spec: PodSpec = { containers: [main, { name: 'bare' }] };
const node = { allocatable: { cpu: '3900m', memory: '1Gi', 'ephemeral-storage': '5Gi' } };

test('amounts of a container, rounded up to the divisor', () => {
  const cases: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
    ['requests.cpu', undefined, undefined, '1'],
    ['requests.cpu', '1m', undefined, '250'],
    ['requests.cpu', '0', undefined, '1'],
    ['limits.memory', '1Mi', undefined, '10'],
    ['limits.memory', '3Mi', undefined, '4'],
    ['limits.hugepages-2Mi', '1Mi', undefined, '4'],
    ['limits.cpu', undefined, undefined, '4'],
    ['limits.cpu', '1m', 'bare', '3900'],
    ['limits.ephemeral-storage', '1Gi', 'bare', '5'],
    ['requests.memory', undefined, 'bare', '0'],
  ];
  for (const [resource, divisor, containerName, value] of cases) {
    const selector = { resource, ...(divisor && { divisor }), ...(containerName && { containerName }) };
    assert.deepEqual(containerResourceValue({ spec }, main, selector, node), { value }, JSON.stringify(selector));
  }
});

test('the limit of the whole pod comes before the room of the node', () => {
  const limited = { ...spec, resources: { limits: { cpu: '2' } } };
  assert.deepEqual(containerResourceValue({ spec: limited }, main, { resource: 'limits.cpu' }, node), { value: '2' });
});

test('the limit of the whole pod says nothing of huge pages and of what pods cannot limit', () => {
  const limits = { 'hugepages-1Gi': '2Gi', 'ephemeral-storage': '1Gi' };
  const limited = { spec: { ...spec, resources: { limits } } };
  const valueOf = (resource: string) => containerResourceValue(limited, main, { resource, divisor: '1Gi' }, node);
  assert.deepEqual(valueOf('limits.hugepages-1Gi'), { value: '0' });
  assert.deepEqual(valueOf('limits.ephemeral-storage'), { value: '5' });
});

test('an init container named by another has the limits it was given, and no others', () => {
  const init: Container = { name: 'init' };
  const pod = { spec: { ...spec, initContainers: [init] } };
  const selector = { resource: 'limits.cpu', divisor: '1m' };
  assert.deepEqual(containerResourceValue(pod, main, { ...selector, containerName: 'init' }, node), { value: '0' });
  assert.deepEqual(containerResourceValue(pod, init, selector, node), { value: '3900' });
});

test('addresses of a pod lead with the family of the node', () => {
  const six = { ...facts, hostIps: ['fd00::9'], podIps: ['10.0.0.1', 'fd00::1', '10.0.0.2'] };
  assert.deepEqual(podFieldValue(six, 'status.podIP'), { value: 'fd00::1' });
  assert.deepEqual(podFieldValue(six, 'status.podIPs'), { value: 'fd00::1,10.0.0.1' });
});

test('what has no value', () => {
  assert.deepEqual(containerResourceValue({ spec }, main, { resource: 'limits.pods' }, node), {
    problem: 'unsupported container resource : limits.pods',
  });
  assert.deepEqual(containerResourceValue({ spec }, main, { resource: 'limits.cpu', containerName: 'x' }, node), {
    problem: 'container x not found',
  });
});
