import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
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
    admission: new Admission({
      log: new MemoryLog(),
      node: () => anAdmissionNode(),
      running: { hasContainers: () => false },
    }),
    activePods: { activePods: () => [] },
    statuses: { set: (_, status) => void statuses.push(status) },
    events,
    terminate: () => assert.fail('nobody has to give way'),
  });
  return { gate, statuses, events };
}

const asking = (cpu: string, more: PodOptions = {}) =>
  aPod({ source: 'api', ...more, spec: { containers: [aContainer('main', { resources: { requests: { cpu } } })] } });

describe('the gate before the workers', () => {
  test('lets in what fits, and says nothing', () => {
    const { gate, statuses, events } = setUp();
    assert.equal(gate.admit(asking('1')), true);
    assert.deepEqual([statuses, events.take()], [[], []]);
  });

  test('a refused pod has failed, once, and has nobody who could end it', () => {
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

  test('what is ending or over needs no leave', () => {
    const { gate, statuses } = setUp();
    const pod = asking('100');
    const metadata = { ...pod.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    assert.equal(gate.admit({ ...pod, metadata }), true);
    assert.equal(gate.admit({ ...pod, status: { phase: 'Succeeded' } }), true);
    assert.deepEqual(statuses, []);
  });

  test('a uid that was forgotten is a new question', () => {
    const { gate, statuses } = setUp();
    const pod = asking('100');
    gate.admit(pod);
    gate.forget(pod.uid);
    assert.equal(gate.admit(asking('1')), true);
    assert.equal(gate.admit({ ...asking('1'), status: { phase: 'Failed' } }), true);
    assert.equal(statuses.length, 1);
  });
});
