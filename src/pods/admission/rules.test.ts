import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSpec, Toleration } from '../../gen/kubernetes/types.ts';
import type { AdmissionNode, NodeTaint } from '../../model/admission-node.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { aContainer, aPod, type PodOptions } from '../../testing/pods.ts';
import { admissionChain, admitByRules } from './chain.ts';
import { admitted, type PodAdmitResult } from './pod-admit-result.ts';

/** Each case goes through the whole chain: what one rule lets pass, no other may stop. */
function ask(pod: PodOptions, node: Partial<AdmissionNode> = {}, active: readonly PodOptions[] = []): PodAdmitResult {
  return admitByRules(admissionChain(), {
    pod: aPod({ source: 'api', ...pod }),
    active: active.map((other, index) => aPod({ source: 'api', uid: `other-${index}`, ...other })),
    node: anAdmissionNode(node),
  });
}

function refusal(reason: string, message: string): PodAdmitResult {
  return { admit: false, reason, message };
}

describe('eviction pressure', () => {
  const critical = { spec: { priority: 2_000_000_000 } };
  const burstable = { spec: { containers: [aContainer('main', { resources: { requests: { memory: '1Mi' } } })] } };
  const tolerating = (toleration: Toleration): PodOptions => ({ spec: { tolerations: [toleration] } });
  const memoryKey = 'node.kubernetes.io/memory-pressure';
  const cases: readonly [what: string, pod: PodOptions, pressure: readonly string[], refusedFor?: string][] = [
    ['no pressure', {}, []],
    ['memory, best effort', {}, ['MemoryPressure'], '[MemoryPressure]'],
    ['memory, burstable', burstable, ['MemoryPressure']],
    ['memory, tolerated', tolerating({ key: memoryKey, operator: 'Exists' }), ['MemoryPressure']],
    ['memory, tolerated with its effect', tolerating({ key: memoryKey, effect: 'NoSchedule' }), ['MemoryPressure']],
    [
      'memory, other taint tolerated',
      tolerating({ key: 'node.kubernetes.io/disk-pressure', operator: 'Exists' }),
      ['MemoryPressure'],
      '[MemoryPressure]',
    ],
    ['disk, burstable', burstable, ['DiskPressure'], '[DiskPressure]'],
    ['both', burstable, ['MemoryPressure', 'DiskPressure'], '[MemoryPressure DiskPressure]'],
    ['critical', critical, ['MemoryPressure', 'DiskPressure', 'PIDPressure']],
    ['static', { source: 'file' }, ['DiskPressure']],
  ];
  for (const [what, pod, pressure, list] of cases) {
    test(what, () => {
      const expected = list === undefined ? admitted : refusal('Evicted', `The node had condition: ${list}. `);
      assert.deepEqual(ask(pod, { pressure }), expected);
    });
  }
});

describe('what a node must be', () => {
  const sidecar: Partial<PodSpec> = { initContainers: [aContainer('side', { restartPolicy: 'Always' })] };
  const strict: Partial<PodSpec> = { securityContext: { supplementalGroupsPolicy: 'Strict' } };
  const merge: Partial<PodSpec> = { securityContext: { supplementalGroupsPolicy: 'Merge' } };
  const podLevel: Partial<PodSpec> = { resources: { requests: { cpu: '1' } } };
  const without = (gate: string) => ({ featureGates: (name: string) => name !== gate });
  const cases: readonly [what: string, pod: PodOptions, node: Partial<AdmissionNode>, expected: PodAdmitResult][] = [
    ['node without a name', {}, { name: '' }, refusal('InvalidNodeInfo', 'Kubelet cannot get node info.')],
    ['node of unknown size', {}, { allocatable: {} }, refusal('InvalidNodeInfo', 'Kubelet cannot get node info.')],
    ['its system by label', { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }, {}, admitted],
    [
      'another system by label, whatever the node is labelled',
      { metadata: { labels: { 'kubernetes.io/os': 'windows' } } },
      { labels: { 'kubernetes.io/os': 'windows' } },
      refusal(
        'PodOSSelectorNodeLabelDoesNotMatch',
        "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
      ),
    ],
    ['its system by field', { spec: { os: { name: 'linux' } } }, {}, admitted],
    [
      'another system by field',
      { spec: { os: { name: 'windows' } } },
      {},
      refusal('PodOSNotSupported', "Failed to admit pod as the OS field doesn't match node OS"),
    ],
    ['strict groups, known', { spec: strict }, {}, admitted],
    ['merged groups, policy unknown', { spec: merge }, { supplementalGroupsPolicySupported: false }, admitted],
    [
      'strict groups, unknown',
      { spec: strict },
      { supplementalGroupsPolicySupported: false },
      refusal('SupplementalGroupsPolicyNotSupported', 'SupplementalGroupsPolicy=Strict is not supported in this node'),
    ],
    ['sidecars', { spec: sidecar }, {}, admitted],
    [
      'sidecars off',
      { spec: sidecar },
      without('SidecarContainers'),
      refusal('InitContainerRestartPolicyForbidden', 'Init container "side" may not have a non-default restartPolicy'),
    ],
    ['plain init containers', { spec: { initContainers: [aContainer('i')] } }, without('SidecarContainers'), admitted],
    ['pod level resources', { spec: podLevel }, {}, admitted],
    [
      'pod level resources off',
      { spec: podLevel },
      without('PodLevelResources'),
      refusal('PodLevelResourcesNotSupported', 'PodLevelResources feature gate is disabled'),
    ],
    [
      'shutdown, even for critical pods',
      { spec: { priority: 2_000_000_000 } },
      { shuttingDown: true },
      refusal('NodeShutdown', 'Pod was rejected as the node is shutting down.'),
    ],
  ];
  for (const [what, pod, node, expected] of cases) {
    test(what, () => assert.deepEqual(ask(pod, node), expected));
  }
});

describe('node name, selector and affinity', () => {
  const wrongName = refusal('NodeName', "Predicate NodeName failed: node(s) didn't match the requested node name");
  const noMatch = refusal(
    'NodeAffinity',
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  );
  const labels = { disk: 'ssd' };
  const requires = (key: string, value: string): Partial<PodSpec> => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }],
        },
      },
    },
  });
  const cases: readonly [what: string, pod: PodOptions, expected: PodAdmitResult][] = [
    ['no selector', {}, admitted],
    ['its name', { spec: { nodeName: 'node-1' } }, admitted],
    ['another name', { spec: { nodeName: 'node-2' } }, wrongName],
    ['another name, critical', { spec: { nodeName: 'node-2', priority: 2_000_000_000 } }, wrongName],
    ['selected', { spec: { nodeSelector: { disk: 'ssd' } } }, admitted],
    ['not selected', { spec: { nodeSelector: { disk: 'ssd', rack: '1' } } }, noMatch],
    ['not selected, static', { source: 'file', spec: { nodeSelector: { rack: '1' } } }, admitted],
    ['affine', { spec: requires('disk', 'ssd') }, admitted],
    ['not affine', { spec: requires('disk', 'hdd') }, noMatch],
    ['affine, but not selected', { spec: { ...requires('disk', 'ssd'), nodeSelector: { rack: '1' } } }, noMatch],
    [
      'system and architecture without labels',
      {
        spec: { nodeSelector: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
      },
      admitted,
    ],
    ['other architecture', { spec: { nodeSelector: { 'kubernetes.io/arch': 'arm64' } } }, noMatch],
    ['affinity is checked before the name', { spec: { ...requires('disk', 'hdd'), nodeName: 'node-2' } }, noMatch],
  ];
  for (const [what, pod, expected] of cases) {
    test(what, () => assert.deepEqual(ask(pod, { labels }), expected));
  }
});

describe('ports of the node', () => {
  const taken = refusal(
    'NodePorts',
    "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  );
  const port = (hostPort: number, more: { readonly hostIP?: string; readonly protocol?: string } = {}): PodOptions => ({
    spec: { containers: [aContainer('main', { ports: [{ containerPort: 80, hostPort, ...more }] })] },
  });
  const inInit = (restartPolicy?: 'Always'): PodOptions => ({
    spec: {
      initContainers: [
        aContainer('init', { ports: [{ containerPort: 80, hostPort: 80 }], ...(restartPolicy && { restartPolicy }) }),
      ],
    },
  });
  const cases: readonly [what: string, pod: PodOptions, other: PodOptions, expected: PodAdmitResult][] = [
    ['another port', port(80), port(81), admitted],
    ['the same port', port(80), port(80, { protocol: 'TCP' }), taken],
    ['another protocol', port(80), port(80, { protocol: 'UDP' }), admitted],
    ['other addresses', port(80, { hostIP: '10.0.0.1' }), port(80, { hostIP: '10.0.0.2' }), admitted],
    ['the same address', port(80, { hostIP: '10.0.0.1' }), port(80, { hostIP: '10.0.0.1' }), taken],
    ['all addresses wanted', port(80), port(80, { hostIP: '10.0.0.1' }), taken],
    ['all addresses taken', port(80, { hostIP: '10.0.0.1' }), port(80, { hostIP: '0.0.0.0' }), taken],
    ['ports of the pod alone', port(0), port(0), admitted],
    ['a sidecar holds its port', port(80), inInit('Always'), taken],
    ['an init container holds none', port(80), inInit(), admitted],
    ['critical pods do not share either', { ...port(80), source: 'file' }, port(80), taken],
  ];
  for (const [what, pod, other, expected] of cases) {
    test(what, () => assert.deepEqual(ask(pod, {}, [other]), expected));
  }
});

describe('resource claims', () => {
  test('none', () => assert.deepEqual(ask({ spec: { resourceClaims: [] } }), admitted));
  test('any: they cannot be prepared', () => {
    const resourceClaims = [{ name: 'gpu', resourceClaimName: 'one' }, { name: 'net' }];
    const message =
      'Allocate failed due to resource claims (gpu, net), which this kubelet cannot prepare: it has no dynamic resource allocation';
    assert.deepEqual(ask({ spec: { resourceClaims } }), refusal('UnexpectedAdmissionError', message));
  });
  test('their names end somewhere', () => {
    const result = ask({ spec: { resourceClaims: [{ name: 'x'.repeat(100_000) }] } });
    assert.ok(JSON.stringify(result).length < 2_000);
  });
});

describe('taints', () => {
  const driven = refusal(
    'TaintToleration',
    "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  );
  const taint: NodeTaint = { key: 'broken', value: 'yes', effect: 'NoExecute' };
  const cases: readonly [
    what: string,
    tolerations: readonly Toleration[],
    taints: readonly NodeTaint[],
    PodAdmitResult,
  ][] = [
    ['none', [], [], admitted],
    ['not tolerated', [], [taint], driven],
    ['only NoExecute counts', [], [{ ...taint, effect: 'NoSchedule' }], admitted],
    ['equal', [{ key: 'broken', operator: 'Equal', value: 'yes', effect: 'NoExecute' }], [taint], admitted],
    ['equal is what is meant without an operator', [{ key: 'broken', value: 'yes' }], [taint], admitted],
    ['another value', [{ key: 'broken', operator: 'Equal', value: 'no' }], [taint], driven],
    ['no value is the empty one', [{ key: 'broken' }], [{ key: 'broken', effect: 'NoExecute' }], admitted],
    ['any value', [{ key: 'broken', operator: 'Exists' }], [taint], admitted],
    ['another effect', [{ key: 'broken', operator: 'Exists', effect: 'NoSchedule' }], [taint], driven],
    ['another key', [{ key: 'whole', operator: 'Exists' }], [taint], driven],
    ['everything', [{ operator: 'Exists' }], [taint, { key: 'other', effect: 'NoExecute' }], admitted],
    ['unknown operator', [{ key: 'broken', operator: 'Sometimes', value: 'yes' }], [taint], driven],
    ['one of two', [{ key: 'broken', operator: 'Exists' }], [taint, { key: 'other', effect: 'NoExecute' }], driven],
    ['for a while', [{ key: 'broken', operator: 'Exists', tolerationSeconds: 5 }], [taint], admitted],
  ];
  for (const [what, tolerations, taints, expected] of cases) {
    test(what, () => assert.deepEqual(ask({ spec: { tolerations } }, { taints }), expected));
  }
  test('static pods stay', () => assert.deepEqual(ask({ source: 'file' }, { taints: [taint] }), admitted));
});

test('a pod that takes too much memory is rejected before any other rule', () => {
  const long = { metadata: { annotations: { long: 'x'.repeat(512 * 1024) } } };
  const result = ask({ ...long, spec: { nodeName: 'elsewhere' } });
  assert.ok(result.admit === false);
  assert.equal(result.reason, 'PodTooLarge');
  assert.match(result.message, /take more than 524288 bytes of memory; move what is long into ConfigMaps/);
  assert.deepEqual(ask({ metadata: { annotations: { long: 'x'.repeat(256 * 1024) } } }), admitted);
});
