import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, PodCondition } from '../../gen/kubernetes/types.ts';
import { generateConditions, type ConditionsInput } from './generate-conditions.ts';

const status = (name: string, ready: boolean, started = ready): ContainerStatus => ({
  name,
  ready,
  started,
  restartCount: 0,
  image: '',
  imageID: '',
  state: ready ? { running: {} } : { waiting: {} },
});

const base: ConditionsInput = {
  spec: { containers: [{ name: 'b' }, { name: 'a' }] },
  phase: 'Running',
  statuses: [status('a', true), status('b', true)],
  needsSandbox: false,
  apiConditions: [],
  previous: [],
  resize: [],
  observedGeneration: 4,
  nowMs: Date.parse('2030-01-01T00:00:09.900Z'),
};

function conditions(changes: Partial<ConditionsInput>): Readonly<Record<string, PodCondition>> {
  return Object.fromEntries(generateConditions({ ...base, ...changes }).map((entry) => [entry.type, entry]));
}

const summary = (entry: PodCondition | undefined) => [entry?.status, entry?.reason, entry?.message];

test('the fixed order, foreign conditions first, and the stamp', () => {
  const foreign = { type: 'example.com/x', status: 'Maybe' };
  const stale = { type: 'Ready', status: 'Maybe' };
  const resize = [{ type: 'PodResizePending', status: 'True' }];
  const made = generateConditions({
    ...base,
    apiConditions: [stale, foreign],
    resize,
    disruption: { reason: 'TerminationByKubelet', message: 'm' },
  });
  assert.deepEqual(
    made.map(({ type }) => type),
    [
      'example.com/x',
      'PodResizePending',
      'DisruptionTarget',
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
    ],
  );
  assert.deepEqual(made.at(-1), {
    type: 'PodScheduled',
    status: 'True',
    observedGeneration: 4,
    lastTransitionTime: '2030-01-01T00:00:09Z',
  });
  assert.deepEqual(made[0], foreign);
});

test('the time of a condition changes only with its status', () => {
  const old = (status: string) => [
    { type: 'Ready', status, lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'Old' },
  ];
  assert.equal(conditions({ previous: old('True') })['Ready']?.lastTransitionTime, '2020-01-01T00:00:00Z');
  assert.equal(conditions({ previous: old('False') })['Ready']?.lastTransitionTime, '2030-01-01T00:00:09Z');
});

test('a mirror carries no generation', () => {
  assert.equal('observedGeneration' in (conditions({ observedGeneration: undefined })['Ready'] ?? {}), false);
});

test('a missing sandbox', () => {
  assert.equal(conditions({ needsSandbox: true })['PodReadyToStartContainers']?.status, 'False');
});

test('containers that are not ready are named in the order of the spec, sidecars first', () => {
  const spec = { ...base.spec, initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }] };
  const statuses = [status('s', false), status('i', false), status('a', false), status('b', false)];
  const made = conditions({ spec, statuses });
  const message = 'containers with unready status: [s b a]';
  assert.deepEqual(summary(made['ContainersReady']), ['False', 'ContainersNotReady', message]);
  assert.deepEqual(summary(made['Ready']), ['False', 'ContainersNotReady', message]);
  const unknown = conditions({ statuses: [status('a', false)] });
  assert.equal(unknown['Ready']?.message, 'containers with unknown status: [b], containers with unready status: [a]');
  assert.deepEqual(summary(conditions({ statuses: [] })['Ready']), ['False', 'UnknownContainerStatuses', undefined]);
});

test('initialisation', () => {
  const spec = { ...base.spec, initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }] };
  const waiting = [status('a', false), status('b', false)];
  const initialized = (statuses: readonly ContainerStatus[], phase: ConditionsInput['phase'] = 'Pending') =>
    summary(conditions({ spec, statuses, phase })['Initialized']);
  const reason = 'ContainersNotInitialized';
  assert.deepEqual(initialized([status('s', false), status('i', false), ...waiting]), [
    'False',
    reason,
    'containers with incomplete status: [s i]',
  ]);
  assert.deepEqual(initialized([status('s', false, true), ...waiting]), [
    'False',
    reason,
    'containers with unknown status: [i]',
  ]);
  assert.deepEqual(initialized([status('s', false, true), status('i', true), ...waiting]), [
    'True',
    undefined,
    undefined,
  ]);
  // A sidecar that restarts does not undo what happened before the regular containers ran.
  assert.deepEqual(initialized([status('s', false), status('i', true), status('a', true)]), [
    'True',
    undefined,
    undefined,
  ]);
  assert.deepEqual(initialized([status('s', false), status('i', true), ...waiting], 'Succeeded'), [
    'True',
    'PodCompleted',
    undefined,
  ]);
  assert.deepEqual(initialized([]), ['False', 'UnknownContainerStatuses', undefined]);
});

test('a pod that has ended is not ready, whatever its containers show', () => {
  for (const [phase, reason] of [
    ['Succeeded', 'PodCompleted'],
    ['Failed', 'PodFailed'],
  ] as const) {
    const made = conditions({ phase });
    assert.deepEqual(summary(made['Ready']), ['False', reason, undefined]);
    assert.deepEqual(summary(made['ContainersReady']), ['False', reason, undefined]);
  }
});

test('readiness gates', () => {
  const spec = { ...base.spec, readinessGates: [{ conditionType: 'x' }, { conditionType: 'y' }] };
  const apiConditions = [{ type: 'x', status: 'False' }];
  const made = conditions({ spec, apiConditions });
  assert.deepEqual(summary(made['Ready']), [
    'False',
    'ReadinessGatesNotReady',
    'the status of pod readiness gate "x" is not "True", but False, ' +
      'corresponding condition of pod readiness gate "y" does not exist.',
  ]);
  assert.equal(made['ContainersReady']?.status, 'True');
  const open = [
    { type: 'x', status: 'True' },
    { type: 'y', status: 'True' },
  ];
  assert.equal(conditions({ spec, apiConditions: open })['Ready']?.status, 'True');
});

test('a disruption is kept once it is known', () => {
  const known = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
  assert.deepEqual(conditions({ previous: [known] })['DisruptionTarget'], known);
});

test('messages end somewhere, however many containers and gates there are', () => {
  const many = Array.from({ length: 4_000 }, (_, index) => `with-a-long-name-${index}`);
  const gates = conditions({
    spec: { ...base.spec, readinessGates: many.map((conditionType) => ({ conditionType })) },
  });
  const statuses = many.map((name) => status(name, false));
  const spec = { containers: many.map((name) => ({ name })), initContainers: many.map((name) => ({ name })) };
  const unready = conditions({ spec, statuses });
  for (const { message = '' } of [
    gates['Ready'],
    unready['Ready'],
    unready['ContainersReady'],
    unready['Initialized'],
  ].map((entry) => entry ?? { message: '' })) {
    assert.ok(message.length > 5_000 && message.length <= 10 * 1024, `${message.length}`);
  }
});
