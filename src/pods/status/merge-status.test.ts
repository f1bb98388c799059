import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ContainerState, ContainerStatus, PodSpec, PodStatus } from '../../gen/kubernetes/types.ts';
import { mergeStatus, normalizeStatus, terminateStatus, type MergeOptions } from './merge-status.ts';

const spec: PodSpec = { containers: [{ name: 'c' }], restartPolicy: 'Never' };

function merged(old: PodStatus, next: PodStatus, options: Partial<MergeOptions> = {}): PodStatus {
  const result = mergeStatus(old, next, { spec, couldHaveRunningContainers: false, ...options });
  if ('illegal' in result) assert.fail(result.illegal);
  return result.status;
}

const container = (name: string, state: ContainerState, lastState: ContainerState = {}): ContainerStatus => ({
  name,
  state,
  lastState,
  ready: false,
  restartCount: 0,
  image: '',
  imageID: '',
});
const done: ContainerState = { terminated: { exitCode: 0 } };
const failed: ContainerState = { terminated: { exitCode: 1 } };
const waiting: ContainerState = { waiting: {} };

test('conditions and fields of others are kept, own ones replaced', () => {
  const gate = { type: 'example.com/gate', status: 'True' };
  const old: PodStatus = {
    conditions: [gate, { type: 'Ready', status: 'False' }],
    resourceClaimStatuses: [{ name: 'claim' }],
    nominatedNodeName: 'n',
  };
  const next: PodStatus = {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { ...gate, status: 'Old' },
    ],
  };
  assert.deepEqual(merged(old, next), {
    phase: 'Running',
    conditions: [gate, { type: 'Ready', status: 'True' }],
    resourceClaimStatuses: [{ name: 'claim' }],
    nominatedNodeName: 'n',
  });
});

test('an end is held back while containers may run', () => {
  const next = { phase: 'Failed', reason: 'Evicted', message: 'm' };
  const held = merged({ phase: 'Running' }, next, { couldHaveRunningContainers: true });
  assert.deepEqual([held.phase, held.reason, held.message], ['Running', undefined, undefined]);
  const ended = merged({ phase: 'Running' }, next);
  assert.deepEqual([ended.phase, ended.reason, ended.message], ['Failed', 'Evicted', 'm']);
});

test('an end is never left', () => {
  for (const phase of ['Pending', 'Running', 'Succeeded']) {
    const kept = merged(
      { phase: 'Failed', reason: 'Evicted' },
      { phase, conditions: [{ type: 'Ready', status: 'True' }] },
    );
    assert.deepEqual([kept.phase, kept.reason], ['Failed', 'Evicted']);
    assert.deepEqual(kept.conditions, [{ type: 'Ready', status: 'False', reason: 'PodFailed' }]);
  }
});

test('a disruption is published with the end', () => {
  const disruption = { type: 'DisruptionTarget', status: 'True' };
  const types = (old: PodStatus, next: PodStatus) =>
    merged(old, { ...next, conditions: [disruption] }).conditions?.map(({ type, status }) => `${type}=${status}`);
  assert.deepEqual(types({ phase: 'Running' }, { phase: 'Failed' }), ['DisruptionTarget=True']);
  assert.deepEqual(types({ phase: 'Running' }, { phase: 'Running' }), []);
  const early = merged(
    { phase: 'Running' },
    { phase: 'Failed', conditions: [disruption] },
    { couldHaveRunningContainers: true },
  );
  assert.deepEqual(early.conditions, []);
  const known = { phase: 'Running', conditions: [{ ...disruption, status: 'False' }] };
  assert.deepEqual(types(known, { phase: 'Failed' }), ['DisruptionTarget=True']);
});

test('a container that has ended for good does not come back', () => {
  const attempt = (policy: string, before: ContainerState, init: PodSpec['initContainers'] = []) => {
    const name = init[0]?.name ?? 'c';
    const list = init.length > 0 ? 'initContainerStatuses' : 'containerStatuses';
    const result = mergeStatus(
      { [list]: [container(name, before)] },
      { [list]: [container(name, waiting)] },
      { spec: { ...spec, restartPolicy: policy, initContainers: init }, couldHaveRunningContainers: false },
    );
    return 'illegal' in result ? result.illegal : undefined;
  };
  const refusal = (name: string) => `terminated container ${name} attempted illegal transition to non-terminated state`;
  assert.equal(attempt('Never', failed), refusal('c'));
  assert.equal(attempt('OnFailure', done), refusal('c'));
  assert.equal(attempt('OnFailure', failed), undefined);
  assert.equal(attempt('Always', done), undefined);
  assert.equal(attempt('Never', waiting), undefined);
  assert.equal(attempt('Never', done, [{ name: 'i' }]), refusal('i'));
  assert.equal(attempt('Never', done, [{ name: 's', restartPolicy: 'Always' }]), undefined);
});

test('with rules of their own the containers decide which of them comes back', () => {
  const on42 = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }];
  const attempt = (own: Partial<Container>, exitCode: number, policy: string, ownRestartRules = true) =>
    'illegal' in
    mergeStatus(
      { containerStatuses: [container('c', { terminated: { exitCode } })] },
      { containerStatuses: [container('c', { running: {} })] },
      {
        spec: { restartPolicy: policy, containers: [{ name: 'c', ...own }] },
        couldHaveRunningContainers: true,
        ownRestartRules,
      },
    );
  assert.equal(attempt({ restartPolicy: 'Never', restartPolicyRules: on42 }, 42, 'Never'), false);
  assert.equal(attempt({ restartPolicy: 'Never', restartPolicyRules: on42 }, 1, 'Always'), true);
  assert.equal(attempt({ restartPolicy: 'Always' }, 0, 'Never'), false);
  assert.equal(attempt({ restartPolicy: 'Always' }, 0, 'Never', false), true);
});

test('termination messages share the limit of the pod', () => {
  const withMessage = (name: string): ContainerStatus =>
    container(name, { terminated: { exitCode: 1, message: 'x'.repeat(5000) } });
  const lengths = (count: number) => {
    const containerStatuses = Array.from({ length: count }, (_, index) => withMessage(`c${index}`));
    return normalizeStatus({ containerStatuses }).containerStatuses?.map(
      (entry) => entry.state?.terminated?.message?.length,
    );
  };
  assert.deepEqual(lengths(1), [5000]);
  assert.deepEqual(lengths(4), [3072, 3072, 3072, 3072]);
});

test('the last status ends what has no end', () => {
  const ended = terminateStatus({ phase: 'Running', containerStatuses: [container('c', waiting)] }, spec);
  assert.equal(ended.phase, 'Failed');
  assert.equal(ended.containerStatuses?.[0]?.state?.terminated?.reason, 'ContainerStatusUnknown');
  const succeeded = terminateStatus({ phase: 'Succeeded', containerStatuses: [container('c', done)] }, spec);
  assert.deepEqual(succeeded, { phase: 'Succeeded', containerStatuses: [container('c', done)] });
});

test('what never had its turn stays waiting', () => {
  const withInit: PodSpec = { ...spec, initContainers: [{ name: 'i1' }, { name: 'i2' }, { name: 'i3' }] };
  const reasons = (init: readonly ContainerState[], regular: ContainerState = waiting) => {
    const ended = terminateStatus(
      {
        initContainerStatuses: init.map((state, index) => container(`i${index + 1}`, state)),
        containerStatuses: [container('c', regular)],
      },
      withInit,
    );
    const all = [...(ended.initContainerStatuses ?? []), ...(ended.containerStatuses ?? [])];
    return all.map(({ state }) => (state?.terminated === undefined ? 'waiting' : (state.terminated.reason ?? 'ended')));
  };
  const lost = 'ContainerStatusUnknown';
  assert.deepEqual(reasons([waiting, waiting, waiting]), [lost, 'waiting', 'waiting', 'waiting']);
  assert.deepEqual(reasons([done, { running: {} }, waiting]), ['ended', lost, 'waiting', 'waiting']);
  assert.deepEqual(reasons([done, done, done]), ['ended', 'ended', 'ended', lost]);
  assert.deepEqual(reasons([done, done, failed]), ['ended', 'ended', 'ended', 'waiting']);
  assert.deepEqual(reasons([done, done, done], { running: {} }), ['ended', 'ended', 'ended', lost]);
});
