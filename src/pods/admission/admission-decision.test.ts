import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { admissionDecision, preemptDecision } from './admission-decision.ts';
import { admitted, rejected, type PodAdmitResult } from './pod-admit-result.ts';

const victims = [podUid('a'), podUid('b')];
const afterPreempting = { admit: 'afterPreempting', victims, shortOf: 'memory' } as const;

test('every result is recorded with its own reason', () => {
  const cases: readonly (readonly [PodAdmitResult, boolean, string])[] = [
    [admitted, false, 'admit Admitted: it may run on this node'],
    [admitted, true, 'admit AlreadyAdmitted: it was admitted before the agent started'],
    [rejected('OutOfcpu', 'not enough cpu'), false, 'reject OutOfcpu: not enough cpu'],
    [afterPreempting, false, 'admit AfterPreempting: it is admitted after the preemption of 2 pods'],
  ];
  for (const [result, wasAdmitted, expected] of cases) {
    const { kind, reason, message, inputs } = admissionDecision(result, { wasAdmitted, activePods: 7 });
    assert.equal(`${kind} ${reason}: ${message}`, expected);
    assert.equal(inputs?.['activePods'], 7);
  }
});

test("the victim's decision names the critical pod, the node's all victims", () => {
  const { ofVictim, ofNode } = preemptDecision(afterPreempting, { namespace: 'kube-system', name: 'dns' });
  assert.deepEqual([ofVictim.kind, ofVictim.reason], ['preempt', 'Preempting']);
  assert.deepEqual(ofVictim.inputs, { criticalPod: 'kube-system/dns', shortOf: 'memory' });
  assert.deepEqual(ofNode.inputs, { criticalPod: 'kube-system/dns', shortOf: 'memory', victims });
});
