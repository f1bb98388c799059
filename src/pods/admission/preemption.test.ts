import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { AdmissionNode } from '../../model/admission-node.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { aContainer, aPod, type PodOptions } from '../../testing/pods.ts';
import { admissionChain, admitByRules } from './chain.ts';
import { computePreemption, preemptionDecision, preemptionEvent } from './preemption.ts';
import type { Shortage } from './shortages.ts';
import type { PodAdmitResult } from './pod-admit-result.ts';

type Amounts = Readonly<Record<string, string>>;

const critical = aPod({ uid: 'critical', source: 'api', spec: { priority: 2_000_000_000 } });

function pod(uid: string, requests: Amounts, more: Partial<PodOptions> = {}): DesiredPod {
  const containers = [aContainer('c', { resources: { requests } })];
  return aPod({ uid, source: 'api', ...more, spec: { containers, ...more.spec } });
}

/** Equal requests and limits. */
function guaranteed(uid: string, limits: Amounts): DesiredPod {
  return aPod({
    uid,
    source: 'api',
    spec: { containers: [aContainer('c', { resources: { limits, requests: limits } })] },
  });
}

function short(missing: Readonly<Record<string, bigint>>): readonly Shortage[] {
  return Object.entries(missing).map(([resource, requested]) => ({ resource, requested, used: 0n, capacity: 0n }));
}

function victims(active: readonly DesiredPod[], missing: Readonly<Record<string, bigint>>): readonly string[] {
  const result = computePreemption(critical, active, short(missing));
  assert.ok('victims' in result);
  return result.victims;
}

const idle = pod('idle', {});
const idle2 = pod('idle-2', {});
const small = pod('small', { cpu: '100m', memory: '100' });
const large = pod('large', { cpu: '500m', memory: '300' });
const promised = guaranteed('promised', { cpu: '1', memory: '500' });

describe('victims', () => {
  test('none, when nothing is missing', () => assert.deepEqual(victims([idle, small], {}), []));
  test('the smallest that is enough', () =>
    assert.deepEqual(victims([large, small, promised], { cpu: 50n }), ['small']));
  test('the one that comes nearest', () =>
    assert.deepEqual(victims([large, small, promised], { cpu: 300n }), ['large']));
  test('several of a class before one of a better class', () => {
    assert.deepEqual(victims([promised, small, large], { cpu: 600n }), ['large', 'small']);
  });
  test('the better class for the rest only, and then the lower one no more than needed', () => {
    assert.deepEqual(victims([promised, small, large], { cpu: 700n }), ['promised']);
    assert.deepEqual(victims([promised, small, large], { cpu: 1_050n }), ['small', 'promised']);
    assert.deepEqual(victims([promised, small, large], { cpu: 1_600n }), ['large', 'small', 'promised']);
  });
  test('pods without requests help where the number of pods is the matter, and there only', () => {
    assert.deepEqual(victims([promised, small, idle], { pods: 1n }), ['idle']);
    assert.deepEqual(victims([promised, small, idle, idle2], { pods: 1n, cpu: 50n }), ['small']);
    assert.deepEqual(victims([promised, small, idle, idle2], { pods: 2n, cpu: 50n }), ['idle', 'small']);
  });
  test('an early choice that later ones cover is taken back', () => {
    const both = pod('both', { cpu: '700m', memory: '700' });
    const cpu = pod('cpu', { cpu: '1' });
    const memory = pod('memory', { memory: '1000' });
    assert.deepEqual([...victims([both, cpu, memory], { cpu: 1_000n, memory: 1_000n })].sort(), ['cpu', 'memory']);
  });
  test('of equals the one of lower priority', () => {
    const low = pod('z', { cpu: '1' }, { spec: { priority: 1 } });
    const high = pod('a', { cpu: '1' }, { spec: { priority: 2 } });
    assert.deepEqual(victims([high, low], { cpu: 1n }), ['z']);
  });
});

describe('no victims', () => {
  const asked = { cpu: 100n };
  const missing = (active: readonly DesiredPod[], from = critical): unknown => {
    const result = computePreemption(from, active, short(asked));
    return 'stillMissing' in result ? Object.fromEntries(result.stillMissing) : result.victims;
  };
  test('all together have too little', () => {
    assert.deepEqual(missing([idle]), { cpu: 100n });
    assert.deepEqual(missing([pod('tiny', { cpu: '30m' })]), { cpu: 70n });
  });
  test('static pods, itself, and critical pods of no lower priority', () => {
    assert.deepEqual(missing([pod('static', { cpu: '1' }, { source: 'file', spec: { priority: 0 } })]), { cpu: 100n });
    assert.deepEqual(missing([pod('critical', { cpu: '1' })]), { cpu: 100n });
    const equal = pod('equal', { cpu: '1' }, { spec: { priority: 2_000_000_000 } });
    assert.deepEqual(missing([equal]), { cpu: 100n });
    const higher = aPod({ uid: 'higher', source: 'api', spec: { priority: 2_000_001_000 } });
    assert.deepEqual(missing([equal], higher), ['equal']);
    // A static pod that states no priority claims none over other critical pods.
    assert.deepEqual(missing([equal], aPod({ uid: 'static', source: 'file' })), { cpu: 100n });
  });
});

describe('in the chain', () => {
  const busy = pod('busy', { cpu: '2' });
  const allocatable = { cpu: '2', memory: '1Gi', pods: '10' };
  const ask = (spec: PodOptions, more: Partial<AdmissionNode> = {}, active = [busy]): PodAdmitResult =>
    admitByRules(admissionChain(), { pod: aPod(spec), active, node: anAdmissionNode({ allocatable, ...more }) });
  const needy: PodOptions = {
    uid: 'needy',
    source: 'file',
    spec: { containers: [aContainer('c', { resources: { requests: { cpu: '1' } } })] },
  };

  test('a critical pod is admitted after preempting others', () => {
    const expected = { admit: 'afterPreempting', victims: [podUid('busy')], shortOf: 'cpu' };
    assert.deepEqual(ask(needy), expected);
    assert.deepEqual(ask({ ...needy, source: 'api', spec: { ...needy.spec, priority: 2_000_000_000 } }), expected);
  });
  test('an ordinary one does not', () => {
    const result = ask({ ...needy, source: 'api' });
    assert.equal(result.admit === false && result.reason, 'OutOfcpu');
  });
  test('no pod is preempted for one that is rejected for another reason, whichever rule comes first', () => {
    const elsewhere = ask({ ...needy, spec: { ...needy.spec, nodeName: 'node-2' } });
    assert.equal(elsewhere.admit === false && elsewhere.reason, 'NodeName');
    const late = ask(needy, { shuttingDown: true });
    assert.equal(late.admit === false && late.reason, 'NodeShutdown');
  });
  test('not even all would do', () => {
    const containers = [aContainer('c', { resources: { requests: { cpu: '64', memory: '2Gi' } } })];
    assert.deepEqual(ask({ ...needy, spec: { containers } }), {
      admit: false,
      reason: 'UnexpectedAdmissionError',
      message:
        'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods ' +
        'to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 62000), (res: memory, q: 1073741824), ]',
    });
  });
  test('another reason comes before a lack of victims', () => {
    const containers = [aContainer('c', { resources: { requests: { cpu: '64' } } })];
    const result = ask({ ...needy, spec: { containers, nodeName: 'node-2' } });
    assert.equal(result.admit === false && result.reason, 'NodeName');
  });
});

test('reason and message of a preemption', () => {
  assert.deepEqual(preemptionDecision, {
    reason: 'Preempting',
    message: 'Preempted in order to admit critical pod',
    disruption: {
      reason: 'TerminationByKubelet',
      message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
    },
  });
  assert.deepEqual(preemptionEvent, {
    type: 'Warning',
    reason: 'Preempting',
    message: 'Preempted in order to admit critical pod',
  });
});
