import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaimStatus } from '../../gen/kubernetes/types.ts';
import { Quantity } from '../../model/quantity.ts';
import { aClaim, aPersistentVolume } from '../../testing/persistent-volumes.ts';
import { markInProgress, markFailed, markFinished } from './expand-claim-status.ts';
import { decideExpansion, classifyFailure } from './expand-decision.ts';

const pending = { allocatedResourceStatuses: { storage: 'NodeResizePending' }, allocatedResources: { storage: '2Gi' } };

interface Row {
  readonly name: string;
  readonly status: PersistentVolumeClaimStatus;
  /** Of the PersistentVolume. */
  readonly size?: string;
  readonly before?: string;
  readonly readOnly?: boolean;
  readonly expected: string;
}

const rows: readonly Row[] = [
  { name: 'nothing to do', status: { capacity: { storage: '1Gi' } }, size: '1Gi', expected: 'none' },
  { name: 'the same in other words', status: { capacity: { storage: '1Gi' } }, size: '1024Mi', expected: 'none' },
  { name: 'a volume without a size', status: { capacity: { storage: '1Gi' } }, expected: 'none' },
  { name: 'a volume that shrank', status: { capacity: { storage: '3Gi' } }, size: '2Gi', expected: 'none' },
  { name: 'pending', status: { capacity: { storage: '1Gi' }, ...pending }, size: '2Gi', expected: '2Gi begin and end' },
  { name: 'a claim without a size yet', status: pending, size: '2Gi', expected: '2Gi begin and end' },
  {
    name: 'in progress, since an agent died',
    status: { capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } },
    size: '2Gi',
    expected: '2Gi begin and end',
  },
  ...['NodeResizeInfeasible', 'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'else'].map((storage) => ({
    name: storage,
    status: { capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage } },
    size: '2Gi',
    expected: 'none',
  })),
  { name: 'an older resizer', status: { capacity: { storage: '1Gi' } }, size: '2Gi', expected: '2Gi end' },
  {
    name: 'a resizer that has not got to it',
    status: { capacity: { storage: '1Gi' }, allocatedResources: { storage: '2Gi' } },
    size: '2Gi',
    expected: 'none',
  },
  {
    name: 'read-only',
    status: { capacity: { storage: '1Gi' }, ...pending },
    size: '2Gi',
    readOnly: true,
    expected: 'readOnly',
  },
  {
    name: 'read-only, large enough',
    status: { capacity: { storage: '2Gi' } },
    size: '2Gi',
    readOnly: true,
    expected: 'none',
  },
  {
    name: 'online',
    status: { capacity: { storage: '1Gi' }, ...pending },
    size: '2Gi',
    before: '1Gi',
    expected: '2Gi begin and end',
  },
  {
    name: 'online, on its way to another size',
    status: { capacity: { storage: '1Gi' }, ...pending, allocatedResources: { storage: '3Gi' } },
    size: '2Gi',
    before: '1Gi',
    expected: '3Gi begin and end',
  },
  {
    name: 'online, settled by another node',
    status: { capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } },
    size: '2Gi',
    before: '1Gi',
    expected: '2Gi none',
  },
  {
    name: 'online, settled by another node, with an older resizer',
    status: { capacity: { storage: '2Gi' } },
    size: '2Gi',
    before: '1Gi',
    expected: '2Gi none',
  },
  { name: 'online, as it was', status: { capacity: { storage: '2Gi' } }, size: '2Gi', before: '2Gi', expected: 'none' },
];

for (const { name, status, size, before, readOnly = false, expected } of rows) {
  test(`what is to be done: ${name}`, () => {
    const decision = decideExpansion({
      claim: aClaim('data', { status: { phase: 'Bound', ...status } }),
      volume: aPersistentVolume('data', size === undefined ? {} : { capacity: { storage: size } }),
      readOnly,
      before: before === undefined ? undefined : Quantity.parse(before),
    });
    const outcome = decision.act === 'expand' ? `${decision.size.toString()} ${decision.record}` : decision.act;
    assert.equal(outcome, expected);
  });
}

test('what a refusal means', () => {
  const outcomeOf = (code: string | undefined, isUncertain: boolean, changedMind = false): string => {
    const { isFinal, isInfeasible, isInUse } = classifyFailure(code, isUncertain, { changedMind });
    return `${isFinal ? 'final' : 'open'}${isInfeasible ? ' infeasible' : ''}${isInUse ? ' in use' : ''}`;
  };
  assert.equal(outcomeOf('Internal', false), 'final');
  assert.equal(outcomeOf('Internal', false, true), 'final infeasible');
  for (const code of ['InvalidArgument', 'OutOfRange', 'NotFound'])
    assert.equal(outcomeOf(code, false), 'final infeasible');
  assert.equal(outcomeOf('FailedPrecondition', false), 'final in use');
  assert.equal(outcomeOf('DeadlineExceeded', true, true), 'open');
  assert.equal(outcomeOf(undefined, true), 'open');
});

test('what is written into a claim', () => {
  const conditions = [
    { type: 'FileSystemResizePending', status: 'True' },
    { type: 'ModifyingVolume', status: 'True' },
  ];
  const claim = aClaim('data', {
    metadata: { name: 'data', namespace: 'default', resourceVersion: '7' },
    status: { phase: 'Bound', capacity: { storage: '1Gi' }, conditions, ...pending },
  });
  assert.deepEqual(markInProgress(claim), {
    status: { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } },
    metadata: { resourceVersion: '7' },
  });
  assert.deepEqual(markFinished(claim, '2Gi'), {
    status: {
      allocatedResourceStatuses: null,
      capacity: { storage: '2Gi' },
      conditions: [{ $patch: 'delete', type: 'FileSystemResizePending' }],
      '$setElementOrder/conditions': [{ type: 'ModifyingVolume' }],
    },
    metadata: { resourceVersion: '7' },
  });
  const others = {
    ...claim,
    status: { allocatedResourceStatuses: { storage: 'NodeResizePending', 'x.io/iops': 'y' } },
  };
  assert.deepEqual(markFinished(others, '2Gi')['status'], {
    allocatedResourceStatuses: { storage: null },
    capacity: { storage: '2Gi' },
  });

  const at = '2026-11-15T18:00:00Z';
  const error = {
    type: 'NodeResizeError',
    status: 'True',
    lastTransitionTime: at,
    message: 'failed to expand pvc with no',
  };
  assert.deepEqual(markFailed(claim, { reason: 'no', isInfeasible: true, at }), {
    status: {
      allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' },
      conditions: [error],
      '$setElementOrder/conditions': [
        { type: 'FileSystemResizePending' },
        { type: 'ModifyingVolume' },
        { type: 'NodeResizeError' },
      ],
    },
  });
  const known = { ...claim, status: { conditions: [{ ...error, message: 'earlier' }] } };
  assert.deepEqual(markFailed(known, { reason: 'no', isInfeasible: false, at }), {});
});
