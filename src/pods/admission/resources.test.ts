import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { resources } from './rules/resources.ts';
import { admitted, type PodAdmitResult } from './pod-admit-result.ts';

type Amounts = Readonly<Record<string, string>>;

const asking = (requests: Amounts): Partial<PodSpec> => ({
  containers: [aContainer('c', { resources: { requests } })],
});

function ask(
  requests: Amounts | Partial<PodSpec>,
  used: readonly Amounts[] = [],
  allocatable: Amounts = {},
): PodAdmitResult {
  const spec = 'containers' in requests ? (requests as Partial<PodSpec>) : asking(requests as Amounts);
  return resources({
    pod: aPod({ source: 'api', spec }),
    active: used.map((amounts, index) => aPod({ source: 'api', uid: `other-${index}`, spec: asking(amounts) })),
    node: anAdmissionNode({
      allocatable: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '10Gi', pods: '3', ...allocatable },
    }),
  });
}

function outOf(resource: string, requested: string, used: string, capacity: string): PodAdmitResult {
  return {
    admit: false,
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  };
}

test('cpu is counted in thousandths', () => {
  assert.deepEqual(ask({ cpu: '64' }), outOf('cpu', '64000', '0', '2000'));
  assert.deepEqual(ask({ cpu: '1' }, [{ cpu: '500m' }, { cpu: '501m' }]), outOf('cpu', '1000', '1001', '2000'));
  assert.deepEqual(ask({ cpu: '1' }, [{ cpu: '500m' }, { cpu: '500m' }]), admitted);
});

test('memory and storage in bytes', () => {
  assert.deepEqual(
    ask({ memory: '512Mi' }, [{ memory: '600Mi' }]),
    outOf('memory', '536870912', '629145600', '1073741824'),
  );
  assert.deepEqual(ask({ 'ephemeral-storage': '11Gi' }), outOf('ephemeral-storage', '11811160064', '0', '10737418240'));
});

test('the number of pods, which comes first', () => {
  assert.deepEqual(ask({}, [{}, {}]), admitted);
  assert.deepEqual(ask({ cpu: '64' }, [{}, {}, {}]), outOf('pods', '1', '3', '3'));
});

test("devices that the node knows and has none of; what it does not know is the cluster's", () => {
  const none = { 'v.io/gpu': '0' };
  assert.deepEqual(ask({ 'v.io/gpu': '1' }, [], none), outOf('v.io/gpu', '1', '0', '0'));
  assert.deepEqual(ask({ 'v.io/gpu': '0' }, [], none), admitted);
  assert.deepEqual(ask({ 'v.io/dongle': '1' }, [], none), admitted);
});

test('cpu before memory before storage before the rest by name', () => {
  const all = { 'a.example/x': '2', memory: '2Gi', cpu: '3', 'ephemeral-storage': '20Gi', 'hugepages-2Mi': '4Mi' };
  const node = { 'a.example/x': '1' };
  const reasonOf = (requests: Amounts): string | undefined => {
    const result = ask(requests, [], node);
    return result.admit === false ? result.reason : undefined;
  };
  const { cpu: _, ...noCpu } = all;
  const { memory: __, ...noMemory } = noCpu;
  const { 'ephemeral-storage': ___, ...rest } = noMemory;
  assert.deepEqual([all, noCpu, noMemory, rest].map(reasonOf), [
    'OutOfcpu',
    'OutOfmemory',
    'OutOfephemeral-storage',
    'OutOfa.example/x',
  ]);
});

test('extended resources: those that the node knows', () => {
  const gpu = 'example.com/gpu';
  assert.deepEqual(ask({ [gpu]: '2' }), admitted);
  assert.deepEqual(ask({ [gpu]: '2' }, [{ [gpu]: '1' }], { [gpu]: '2' }), outOf(gpu, '2', '1', '2'));
  assert.deepEqual(ask({ [gpu]: '1' }, [], { [gpu]: '0' }), outOf(gpu, '1', '0', '0'));
  assert.deepEqual(ask({ [gpu]: '0' }, [], { [gpu]: '0' }), admitted);
});

test('huge pages that the node does not have are not ignored', () => {
  assert.deepEqual(ask({ 'hugepages-2Mi': '2Mi' }), outOf('hugepages-2Mi', '2097152', '0', '0'));
});

test('an amount that fills the node to the brim fits, asking for nothing always does', () => {
  assert.deepEqual(ask({ cpu: '2', memory: '1Gi' }), admitted);
  assert.deepEqual(ask({ cpu: '0' }, [{ cpu: '3' }]), admitted);
});

test('the whole pod counts: sidecars, overhead, its own word', () => {
  const half = { resources: { requests: { cpu: '800m' } } };
  const containers = [aContainer('c', half)];
  const sidecar = aContainer('s', { ...half, restartPolicy: 'Always' });
  const total = (cpu: string): PodAdmitResult => outOf('cpu', cpu, '500', '2000');
  const used = [{ cpu: '500m' }];
  assert.deepEqual(ask({ containers, initContainers: [aContainer('i', half)] }, used), admitted);
  assert.deepEqual(ask({ containers, initContainers: [sidecar] }, used), total('1600'));
  assert.deepEqual(ask({ containers, overhead: { cpu: '1' } }, used), total('1800'));
  assert.deepEqual(ask({ containers, resources: { requests: { cpu: '1700m' } } }, used), total('1700'));
});

test('critical pods do not fail for want of resources', () => {
  const pod = aPod({ source: 'file', spec: asking({ cpu: '64' }) });
  assert.deepEqual(resources({ pod, active: [], node: anAdmissionNode() }), admitted);
});
