import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { Registry } from '../../telemetry/registry.ts';
import { noDecisions } from '../../testing/no-decisions.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryDecisions } from '../../testing/memory-decisions.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aContainer, aPod, type PodOptions } from '../../testing/pods.ts';
import { Admission } from './admission.ts';
import { PodGate } from './pod-gate.ts';

function setUp() {
  const statuses: PodStatus[] = [];
  const events = new MemoryEvents();
  const gate = new PodGate({
    clock: new FakeClock(),
    decisions: noDecisions,
    admission: new Admission({
      metrics: new Registry(),
      log: new MemoryLog(),
      decisions: noDecisions,
      node: () => anAdmissionNode(),
      running: { hasContainers: () => false },
    }),
    activePods: { activePods: () => [] },
    statuses: { set: (_, status) => void statuses.push(status) },
    events,
    terminate: () => assert.fail('no pod is to be preempted'),
  });
  return { gate, statuses, events };
}

const asking = (cpu: string, more: PodOptions = {}) =>
  aPod({ source: 'api', ...more, spec: { containers: [aContainer('main', { resources: { requests: { cpu } } })] } });

describe('PodGate', () => {
  test('admits what fits, without an event', () => {
    const { gate, statuses, events } = setUp();
    assert.equal(gate.admit(asking('1')), true);
    assert.deepEqual([statuses, events.take()], [[], []]);
  });

  test('a rejected pod has failed, once, and gets no worker', () => {
    const { gate, statuses, events } = setUp();
    const pod = asking('100');
    const metadata = { ...pod.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    const versions = [pod, { ...pod, status: { phase: 'Failed' } }, { ...pod, metadata }];
    assert.deepEqual(
      versions.map((version) => gate.admit(version)),
      [false, false, false],
    );
    assert.deepEqual(
      statuses.map(({ phase, reason }) => [phase, reason]),
      [['Failed', 'OutOfcpu']],
    );
    assert.equal(events.take().length, 1);
  });

  test('a pod that is ending or has ended needs no admission', () => {
    const { gate, statuses } = setUp();
    const pod = asking('100');
    const metadata = { ...pod.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    assert.equal(gate.admit({ ...pod, metadata }), true);
    assert.equal(gate.admit({ ...pod, status: { phase: 'Succeeded' } }), true);
    assert.deepEqual(statuses, []);
  });

  test('a uid that was forgotten is decided anew', () => {
    const { gate, statuses } = setUp();
    const pod = asking('100');
    gate.admit(pod);
    gate.forget(pod.uid);
    assert.equal(gate.admit(asking('1')), true);
    assert.equal(gate.admit({ ...asking('1'), status: { phase: 'Failed' } }), true);
    assert.equal(statuses.length, 1);
  });
});

test('a preemption is recorded with each victim and with the node', () => {
  const decisions = new MemoryDecisions();
  const ended: string[] = [];
  const small = asking('1', { uid: 'uid-small', name: 'small', status: { startTime: '2030-01-01T00:00:00Z' } });
  const gate = new PodGate({
    clock: new FakeClock(),
    decisions,
    admission: new Admission({
      metrics: new Registry(),
      log: new MemoryLog(),
      decisions: noDecisions,
      node: () => anAdmissionNode({ allocatable: { cpu: '2', memory: '1Gi', pods: '10' } }),
      running: { hasContainers: () => false },
    }),
    activePods: { activePods: () => [small] },
    statuses: { set: () => assert.fail('no pod is rejected') },
    events: new MemoryEvents(),
    terminate: (uid) => void ended.push(uid),
  });
  const { containers } = asking('2').spec;
  const critical = aPod({
    source: 'api',
    uid: 'uid-critical',
    name: 'critical',
    spec: { containers, priority: 2_000_000_000 },
  });
  assert.equal(gate.admit(critical), true);
  assert.deepEqual(ended, ['uid-small']);
  assert.deepEqual(decisions.take(), [
    'node preempt Preempting: pods are preempted for the critical pod default/critical',
    'uid-small preempt Preempting: Preempted in order to admit critical pod',
  ]);
});
