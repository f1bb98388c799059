import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandboxId } from '../../base/ids.ts';
import type { PodSpec, PodStatus } from '../../gen/kubernetes/types.ts';
import { desiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod, ObservedSandbox } from '../../model/observed-pod.ts';
import { sortedPodIps } from '../../model/pod-ips.ts';
import { generatePodStatus, type PodStatusInput } from './generate-status.ts';

interface Changes extends Partial<Omit<PodStatusInput, 'pod' | 'observed'>> {
  readonly spec?: Partial<PodSpec>;
  readonly apiStatus?: PodStatus;
  readonly sandboxes?: readonly Partial<ObservedSandbox>[];
  readonly source?: 'api' | 'file';
}

function generate({ spec = {}, apiStatus = {}, sandboxes, source = 'api', ...changes }: Changes = {}): PodStatus {
  const pod = desiredPod(source, {
    metadata: { uid: 'u', name: 'p', namespace: 'n', generation: 3 },
    spec: { containers: [{ name: 'c' }], restartPolicy: 'Always', ...spec },
    status: apiStatus,
  });
  const observed: ObservedPod = {
    uid: pod.uid,
    name: 'p',
    namespace: 'n',
    observedAt: 0,
    containers: [],
    sandboxes: (sandboxes ?? []).map((sandbox) => ({
      id: sandboxId('s'),
      attempt: 0,
      state: 'ready' as const,
      createdAt: 1,
      ips: [],
      network: 'pod' as const,
      networkKnown: true,
      ...sandbox,
    })),
  };
  return generatePodStatus({
    pod,
    observed: sandboxes === undefined ? undefined : observed,
    previous: undefined,
    startErrors: new Map(),
    probes: { ready: () => true, started: () => true },
    terminal: false,
    runtimeName: 'containerd',
    hostIps: ['192.0.2.1'],
    nowMs: Date.parse('2030-01-01T00:00:00Z'),
    needsSandbox: true,
    ...changes,
  });
}

test('the first status of a pod', () => {
  const status = generate();
  assert.equal(status.phase, 'Pending');
  assert.equal(status.startTime, '2030-01-01T00:00:00Z');
  assert.equal(status.observedGeneration, 3);
  assert.equal(status.qosClass, 'BestEffort');
  assert.deepEqual(status.hostIPs, [{ ip: '192.0.2.1' }]);
  assert.equal('podIP' in status, false);
  assert.equal('initContainerStatuses' in status, false);
});

test('the start stays, here or as the API server has it', () => {
  const startTime = '2020-01-01T00:00:00Z';
  assert.equal(generate({ previous: { startTime } }).startTime, startTime);
  assert.equal(generate({ apiStatus: { startTime } }).startTime, startTime);
});

test('static pods have no observed generation', () => {
  assert.equal('observedGeneration' in generate({ source: 'file' }), false);
});

test('addresses come from the ready sandbox and outlive it', () => {
  const podIPs = [{ ip: '10.0.0.9' }];
  const ip = (changes: Changes) => generate(changes).podIPs?.map((entry) => entry.ip);
  assert.deepEqual(ip({ sandboxes: [{ ips: ['10.0.0.1'] }] }), ['10.0.0.1']);
  assert.deepEqual(ip({ sandboxes: [{ state: 'notReady', ips: [] }], previous: { podIPs } }), ['10.0.0.9']);
  assert.deepEqual(ip({ previous: { podIPs } }), ['10.0.0.9']);
  assert.deepEqual(ip({ sandboxes: [{ ips: ['10.0.0.2'] }], previous: { podIPs } }), ['10.0.0.2']);
  assert.deepEqual(ip({ spec: { hostNetwork: true } }), ['192.0.2.1']);
});

test('one address of each family, in the order of the node', () => {
  const ips = ['10.0.0.1', '10.0.0.2', 'fd00::1'];
  assert.deepEqual(sortedPodIps(ips, ['192.0.2.1']), ['10.0.0.1', 'fd00::1']);
  assert.deepEqual(sortedPodIps(ips, ['fd00::9']), ['fd00::1', '10.0.0.1']);
  assert.deepEqual(sortedPodIps(['fd00::1'], []), ['fd00::1']);
});

test('a decided end has its reason and message, and comes before what containers show', () => {
  const disruption = { reason: 'TerminationByKubelet', message: 'low on memory' };
  const status = generate({ decided: { reason: 'Evicted', message: 'low on memory', disruption } });
  assert.deepEqual([status.phase, status.reason, status.message], ['Failed', 'Evicted', 'low on memory']);
  const condition = status.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([condition?.status, condition?.reason], ['True', 'TerminationByKubelet']);
});

test('a pod that has succeeded by itself keeps that where the decision says so', () => {
  const previous = { phase: 'Succeeded' };
  const end = { reason: 'Terminated', message: 'm' };
  const phases = (keepsSucceeded: boolean, before: { phase: string }) => {
    const { phase, reason } = generate({ previous: before, decided: { ...end, keepsSucceeded } });
    return `${phase} ${reason}`;
  };
  assert.equal(phases(true, previous), 'Succeeded Terminated');
  assert.equal(phases(false, previous), 'Failed Terminated');
  assert.equal(phases(true, { phase: 'Running' }), 'Failed Terminated');
});

test('an end stays, with its reason and message', () => {
  const previous = { phase: 'Failed', reason: 'Evicted', message: 'm' };
  const kept = generate({ previous });
  assert.deepEqual([kept.phase, kept.reason, kept.message], ['Failed', 'Evicted', 'm']);
  const api = generate({ apiStatus: { phase: 'Succeeded' }, decided: { reason: 'Evicted', message: 'late' } });
  assert.deepEqual([api.phase, api.reason], ['Succeeded', undefined]);
});

test('reason and message of another phase are dropped', () => {
  assert.equal(generate({ previous: { phase: 'Running', reason: 'Old' } }).reason, undefined);
});
