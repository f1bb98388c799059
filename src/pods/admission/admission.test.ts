import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodUid } from '../../base/ids.ts';
import type { AdmissionNode } from '../../model/admission-node.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { Registry } from '../../telemetry/index.ts';
import { MemoryDecisions } from '../../testing/memory-decisions.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aContainer, aPod, type PodOptions } from '../../testing/pods.ts';
import { Admission } from './admission.ts';
import { admissionChain, admitByRules } from './chain.ts';
import { rejectedStatus, rejectionLabel } from './rejection.ts';
import { admitted, rejected, type AdmissionRule } from './pod-admit-result.ts';

class World {
  node: AdmissionNode = anAdmissionNode({ allocatable: { cpu: '2', memory: '1Gi', pods: '10' } });
  readonly running = new Set<PodUid>();
  readonly registry = new Registry();
  readonly log = new MemoryLog();
  readonly decisions = new MemoryDecisions();
  readonly admission: Admission;

  constructor(resourceManagers?: AdmissionRule) {
    this.admission = new Admission({
      log: this.log,
      decisions: this.decisions,
      node: () => this.node,
      running: { hasContainers: (uid) => this.running.has(uid) },
      metrics: this.registry,
      ...(resourceManagers && { resourceManagers }),
    });
  }
}

function pod(uid: string, cpu: string, more: PodOptions = {}): DesiredPod {
  const containers = [aContainer('c', { resources: { requests: { cpu } } })];
  return aPod({ uid, source: 'api', ...more, spec: { containers, ...more.spec } });
}

describe('a result is final', () => {
  test('an admitted pod is not decided again when the node has changed', () => {
    const world = new World();
    const first = pod('a', '1');
    assert.equal(world.admission.decide(first, []).admit, true);
    world.node = anAdmissionNode({ shuttingDown: true });
    assert.equal(world.admission.decide(pod('a', '64'), []).admit, true);
    assert.equal(world.admission.decide(pod('b', '1'), [first]).admit, false);
  });

  test('a rejected one has failed for good, and is counted once', () => {
    const world = new World();
    const result = world.admission.decide(pod('a', '64'), []);
    assert.equal(result.admit, false);
    world.node = anAdmissionNode({ allocatable: { cpu: '128', memory: '1Gi', pods: '10' } });
    assert.equal(world.admission.decide(pod('a', '64'), []), result);
    assert.equal(world.admission.isAdmitted(pod('a', '64')), false);
    assert.match(world.registry.render(), /^kubelet_admission_rejections_total\{reason="OutOfcpu"\} 1$/m);
    const [recorded, ...more] = world.decisions.take();
    assert.match(recorded ?? '', /^a reject OutOfcpu: Node didn't have enough resource: cpu/);
    assert.deepEqual(more, []);
  });

  test('for what is left of a former life does not: the pod is decided anew', () => {
    const world = new World();
    world.running.add(pod('a', '1').uid);
    assert.equal(world.admission.decide(pod('a', '64'), []).admit, true);
    world.admission.forget(pod('a', '1').uid);
    assert.equal(world.admission.isAdmitted(pod('a', '64')), false);
    assert.equal(world.admission.decide(pod('a', '64'), []).admit, false);
  });

  test('until the pod is forgotten', () => {
    const world = new World();
    world.admission.decide(pod('a', '64'), []);
    world.admission.forget(pod('a', '64').uid);
    assert.equal(world.admission.decide(pod('a', '1'), []).admit, true);
  });
});

describe('after a restart of the agent', () => {
  const shut = anAdmissionNode({ shuttingDown: true });

  test('what has containers keeps running and counts', () => {
    const world = new World();
    const [static_, api] = [pod('a', '1', { source: 'file' }), pod('b', '1')];
    world.node = shut;
    for (const known of [static_, api]) {
      world.running.add(known.uid);
      assert.equal(world.admission.isAdmitted(known), true);
      assert.equal(world.admission.decide(known, []).admit, true);
    }
  });

  test('it stays admitted when its containers go later', () => {
    const world = new World();
    const known = pod('a', '1');
    world.running.add(known.uid);
    world.admission.decide(known, []);
    world.running.clear();
    world.node = shut;
    assert.equal(world.admission.decide(known, []).admit, true);
  });

  test('a pod that was admitted before it had containers has a start time', () => {
    const startTime = '2030-01-02T03:04:05Z';
    const world = new World();
    world.node = shut;
    const started = pod('a', '1', { status: { phase: 'Pending', startTime } });
    assert.equal(world.admission.isAdmitted(started), true);
    assert.equal(world.admission.decide(started, []).admit, true);
    const ended = pod('b', '1', { status: { phase: 'Failed', startTime } });
    assert.equal(world.admission.isAdmitted(ended), false);
    const fresh = pod('c', '1', { status: { phase: 'Pending' } });
    assert.equal(world.admission.isAdmitted(fresh), false);
    assert.equal(world.admission.decide(fresh, []).admit, false);
  });
});

test('a pod does not count against itself', () => {
  const world = new World();
  const one = pod('a', '2');
  assert.equal(world.admission.decide(one, [one]).admit, true);
});

test('victims are named once and their share is not counted any more', () => {
  const world = new World();
  const busy = pod('busy', '2');
  assert.equal(world.admission.decide(busy, []).admit, true);
  const critical = pod('critical', '1', { source: 'file' });
  const result = world.admission.decide(critical, [busy]);
  assert.deepEqual(result, { admit: 'afterPreempting', victims: [busy.uid], shortOf: 'cpu' });
  assert.equal(world.admission.decide(critical, [busy]).admit, true);
  assert.equal(world.admission.isAdmitted(busy), false);
  assert.equal(world.admission.isAdmitted(critical), true);
  assert.equal(world.admission.decide(pod('next', '1'), [busy, critical]).admit, true, 'the other half is free');
  assert.match(world.registry.render(), /^kubelet_preemptions\{preemption_signal="cpu"\} 1$/m);
});

describe('the chain', () => {
  const wrongSysctl = { securityContext: { sysctls: [{ name: 'vm.a', value: '1' }] } };
  const managers: AdmissionRule = () =>
    rejected('TopologyAffinityError', 'Resources cannot be allocated with Topology locality');

  test('resource managers are asked after sysctls and before the node totals', () => {
    const reasonOf = (asked: DesiredPod): string | undefined => {
      const result = new World(managers).admission.decide(asked, []);
      return result.admit === false ? result.reason : undefined;
    };
    assert.equal(reasonOf(pod('a', '64')), 'TopologyAffinityError');
    assert.equal(reasonOf(pod('a', '64', { spec: wrongSysctl })), 'SysctlForbidden');
  });

  test('the first rejection counts, from the first rule to the last', () => {
    // Everything is wrong; what is mended step by step brings the next reason to light.
    let node = anAdmissionNode({
      name: '',
      labels: {},
      allocatable: { cpu: '1', memory: '1Gi', pods: '10' },
      pressure: ['DiskPressure'],
      taints: [{ key: 'k', effect: 'NoExecute' }],
      supplementalGroupsPolicySupported: false,
      featureGates: () => false,
      appArmor: { enabled: false, reason: 'no' },
      shuttingDown: true,
    });
    let spec: NonNullable<PodOptions['spec']> = {
      os: { name: 'windows' },
      nodeName: 'node-2',
      nodeSelector: { rack: '1' },
      resources: { requests: { cpu: '2' } },
      initContainers: [aContainer('i', { restartPolicy: 'Always' })],
      containers: [aContainer('c', { ports: [{ containerPort: 80, hostPort: 80 }] })],
      securityContext: {
        ...wrongSysctl.securityContext,
        supplementalGroupsPolicy: 'Strict',
        appArmorProfile: { type: 'RuntimeDefault' },
      },
    };
    let labels: Record<string, string> = { 'kubernetes.io/os': 'plan9' };
    let active = [aPod({ uid: 'other', source: 'api', spec: { containers: spec.containers ?? [] } })];
    const mend = {
      node: (more: Partial<AdmissionNode>) => (node = { ...node, ...more }),
      spec: (more: typeof spec) => (spec = { ...spec, ...more }),
      security: (more: object) => (spec = { ...spec, securityContext: { ...spec.securityContext, ...more } }),
    };
    const steps: readonly [reason: string, mend: () => unknown][] = [
      ['Evicted', () => mend.node({ pressure: [] })],
      ['SysctlForbidden', () => mend.security({ sysctls: [] })],
      ['InvalidNodeInfo', () => mend.node({ name: 'node-1' })],
      ['PodOSSelectorNodeLabelDoesNotMatch', () => (labels = {})],
      ['PodOSNotSupported', () => mend.spec({ os: { name: 'linux' } })],
      ['SupplementalGroupsPolicyNotSupported', () => mend.node({ supplementalGroupsPolicySupported: true })],
      [
        'InitContainerRestartPolicyForbidden',
        () => mend.node({ featureGates: (name) => name === 'SidecarContainers' }),
      ],
      ['OutOfcpu', () => mend.node({ allocatable: { ...node.allocatable, cpu: '2' } })],
      ['NodeAffinity', () => mend.node({ labels: { rack: '1' } })],
      ['NodeName', () => mend.spec({ nodeName: 'node-1' })],
      ['NodePorts', () => (active = [])],
      ['TaintToleration', () => mend.node({ taints: [] })],
      ['AppArmor', () => mend.node({ appArmor: { enabled: true, reason: '' } })],
      ['PodLevelResourcesNotSupported', () => mend.node({ featureGates: () => true })],
      ['NodeShutdown', () => mend.node({ shuttingDown: false })],
    ];
    const ask = () =>
      admitByRules(admissionChain(), { pod: aPod({ source: 'api', metadata: { labels }, spec }), active, node });
    for (const [reason, repair] of steps) {
      const result = ask();
      assert.equal(result.admit === false && result.reason, reason);
      repair();
    }
    assert.equal(ask(), admitted);
  });
});

describe('a rejected pod', () => {
  const refusal = rejected('NodeShutdown', 'Pod was rejected as the node is shutting down.');

  test('static: no generation, failed, with an event', () => {
    const asked = aPod({ metadata: { generation: 7 }, status: { startTime: '2030-01-01T00:00:00Z' } });
    assert.deepEqual(rejectedStatus(asked, refusal, 0), {
      status: {
        phase: 'Failed',
        reason: 'NodeShutdown',
        message: 'Pod was rejected: Pod was rejected as the node is shutting down.',
        startTime: '2030-01-01T00:00:00Z',
        qosClass: 'BestEffort',
      },
      event: { type: 'Warning', reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' },
    });
  });

  test('is counted under few names', () => {
    const labels = ['OutOfcpu', 'OutOfpods', 'NodeShutdown', 'OutOfexample.com/gpu', 'SomethingElse'].map(
      rejectionLabel,
    );
    assert.deepEqual(labels, ['OutOfcpu', 'OutOfpods', 'NodeShutdown', 'OutOfExtendedResources', 'Other']);
  });
});
