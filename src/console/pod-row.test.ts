import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerState, ContainerStatus, Pod, PodStatus } from '../gen/kubernetes/types.ts';
import { formatAge, podRow } from './pod-row.ts';

const now = Date.parse('2025-06-01T12:00:00Z');
const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();

function status(name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, image: 'i', imageID: 'i', ready: state.running !== undefined, restartCount: 0, state, ...more };
}
const running: ContainerState = { running: {} };
const waiting = (reason: string): ContainerState => ({ waiting: { reason } });
const ended = (exitCode: number, reason?: string, signal?: number): ContainerState => ({
  terminated: { exitCode, ...(reason === undefined ? {} : { reason }), ...(signal === undefined ? {} : { signal }) },
});

interface Case {
  readonly name: string;
  readonly status: PodStatus;
  readonly deleting?: boolean;
  /** Names of init containers; those with a plus are sidecars. */
  readonly init?: readonly string[];
  readonly containers?: readonly string[];
  /** READY, STATUS, RESTARTS. */
  readonly want: readonly [string, string, string];
}

const initialized = [{ type: 'Initialized', status: 'True' }];
const ready = [{ type: 'Ready', status: 'True' }];

const cases: readonly Case[] = [
  { name: 'nothing known', status: {}, want: ['0/1', 'Unknown', '0'] },
  { name: 'pending', status: { phase: 'Pending' }, want: ['0/1', 'Pending', '0'] },
  {
    name: 'creating',
    status: { phase: 'Pending', containerStatuses: [status('a', waiting('ContainerCreating'))] },
    want: ['0/1', 'ContainerCreating', '0'],
  },
  {
    name: 'running',
    status: { phase: 'Running', containerStatuses: [status('a', running)] },
    want: ['1/1', 'Running', '0'],
  },
  {
    name: 'running but not ready',
    status: { phase: 'Running', containerStatuses: [status('a', running, { ready: false })] },
    want: ['0/1', 'Running', '0'],
  },
  {
    name: 'crash loop with the time of the last restart',
    status: {
      phase: 'Running',
      containerStatuses: [
        status('a', waiting('CrashLoopBackOff'), {
          restartCount: 4,
          lastState: { terminated: { exitCode: 1, finishedAt: ago(90) } },
        }),
      ],
    },
    want: ['0/1', 'CrashLoopBackOff', '4 (90s ago)'],
  },
  {
    name: 'completed',
    status: { phase: 'Succeeded', containerStatuses: [status('a', ended(0, 'Completed'))] },
    want: ['0/1', 'Completed', '0'],
  },
  {
    name: 'failed',
    status: { phase: 'Failed', containerStatuses: [status('a', ended(1, 'Error'))] },
    want: ['0/1', 'Error', '0'],
  },
  {
    name: 'exit code without reason',
    status: { phase: 'Failed', containerStatuses: [status('a', ended(7))] },
    want: ['0/1', 'ExitCode:7', '0'],
  },
  {
    name: 'signal without reason',
    status: { phase: 'Failed', containerStatuses: [status('a', ended(137, undefined, 9))] },
    want: ['0/1', 'Signal:9', '0'],
  },
  { name: 'evicted', status: { phase: 'Failed', reason: 'Evicted' }, want: ['0/1', 'Evicted', '0'] },
  {
    name: 'the first container with a word of its own gives the status',
    containers: ['a', 'b', 'c'],
    status: {
      phase: 'Running',
      containerStatuses: [status('a', running), status('b', waiting('ErrImagePull')), status('c', ended(1, 'Error'))],
    },
    want: ['1/3', 'ErrImagePull', '0'],
  },
  {
    name: 'one completed, one running and ready',
    containers: ['a', 'b'],
    status: {
      phase: 'Running',
      conditions: ready,
      containerStatuses: [status('a', ended(0, 'Completed')), status('b', running)],
    },
    want: ['1/2', 'Running', '0'],
  },
  {
    name: 'one completed, one running, pod not ready',
    containers: ['a', 'b'],
    status: { phase: 'Running', containerStatuses: [status('a', ended(0, 'Completed')), status('b', running)] },
    want: ['1/2', 'NotReady', '0'],
  },
  {
    name: 'first init container waits for its turn',
    init: ['i', 'j'],
    status: {
      phase: 'Pending',
      initContainerStatuses: [status('i', waiting('PodInitializing')), status('j', waiting('PodInitializing'))],
    },
    want: ['0/1', 'Init:0/2', '0'],
  },
  {
    name: 'second init container runs',
    init: ['i', 'j'],
    status: { phase: 'Pending', initContainerStatuses: [status('i', ended(0, 'Completed')), status('j', running)] },
    want: ['0/1', 'Init:1/2', '0'],
  },
  {
    name: 'init container fails',
    init: ['i'],
    status: { phase: 'Pending', initContainerStatuses: [status('i', ended(1, 'Error'), { restartCount: 1 })] },
    want: ['0/1', 'Init:Error', '1'],
  },
  {
    name: 'init container ended without reason',
    init: ['i'],
    status: { phase: 'Pending', initContainerStatuses: [status('i', ended(2))] },
    want: ['0/1', 'Init:ExitCode:2', '0'],
  },
  {
    name: 'init container in a crash loop',
    init: ['i'],
    status: {
      phase: 'Pending',
      initContainerStatuses: [status('i', waiting('CrashLoopBackOff'), { restartCount: 3 })],
    },
    want: ['0/1', 'Init:CrashLoopBackOff', '3'],
  },
  {
    name: 'initialized: restarts of init containers no longer count',
    init: ['i'],
    status: {
      phase: 'Running',
      conditions: initialized,
      initContainerStatuses: [status('i', ended(0, 'Completed'), { restartCount: 5 })],
      containerStatuses: [status('a', running, { restartCount: 2 })],
    },
    want: ['1/1', 'Running', '2'],
  },
  {
    name: 'a started sidecar counts as container and does not hold the pod up',
    init: ['+s', 'i'],
    status: {
      phase: 'Pending',
      initContainerStatuses: [status('s', running, { started: true, restartCount: 1 }), status('i', running)],
    },
    want: ['1/2', 'Init:1/2', '1'],
  },
  {
    name: 'a sidecar beside running containers',
    init: ['+s'],
    status: {
      phase: 'Running',
      conditions: initialized,
      initContainerStatuses: [status('s', running, { started: true, restartCount: 2 })],
      containerStatuses: [status('a', running, { restartCount: 1 })],
    },
    want: ['2/2', 'Running', '3'],
  },
  {
    name: 'terminating',
    deleting: true,
    status: { phase: 'Running', containerStatuses: [status('a', running)] },
    want: ['1/1', 'Terminating', '0'],
  },
  {
    name: 'deleted after its end',
    deleting: true,
    status: { phase: 'Succeeded', containerStatuses: [status('a', ended(0, 'Completed'))] },
    want: ['0/1', 'Completed', '0'],
  },
  {
    name: 'deleted on a lost node',
    deleting: true,
    status: { phase: 'Running', reason: 'NodeLost' },
    want: ['0/1', 'Unknown', '0'],
  },
];

for (const { name, want, deleting, init, containers, status: podStatus } of cases) {
  test(`podRow: ${name}`, () => {
    const pod: Pod = {
      metadata: { name: 'p', ...(deleting === true ? { deletionTimestamp: ago(1) } : {}) },
      spec: {
        containers: (containers ?? ['a']).map((each) => ({ name: each })),
        initContainers: (init ?? []).map((each) =>
          each.startsWith('+') ? { name: each.slice(1), restartPolicy: 'Always' } : { name: each },
        ),
      },
      status: podStatus,
    };
    const row = podRow(pod, now);
    assert.deepEqual([row.ready, row.status, row.restarts], want);
  });
}

test('age comes from the creation, else from the start; address and namespace have words for nothing', () => {
  const started = podRow(
    { metadata: { name: 'p', namespace: 'n' }, status: { startTime: ago(30), podIP: '10.0.0.1' } },
    now,
  );
  assert.deepEqual([started.namespace, started.age, started.ip], ['n', '30s', '10.0.0.1']);
  const created = podRow({ metadata: { creationTimestamp: ago(60) }, status: { startTime: ago(30) } }, now);
  assert.deepEqual([created.namespace, created.age, created.ip], ['default', '60s', '<none>']);
  assert.equal(podRow({}, now).age, '<unknown>');
});

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const ages: readonly [seconds: number, text: string][] = [
  [-2, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [5, '5s'],
  [119, '119s'],
  [120, '2m'],
  [3 * minute + 20, '3m20s'],
  [10 * minute + 20, '10m'],
  [3 * hour - 1, '179m'],
  [3 * hour, '3h'],
  [4 * hour + 10 * minute, '4h10m'],
  [8 * hour + 10 * minute, '8h'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [5 * day + 2 * hour, '5d2h'],
  [8 * day + 2 * hour, '8d'],
  [729 * day, '729d'],
  [3 * 365 * day + 5 * day, '3y5d'],
  [9 * 365 * day + 5 * day, '9y'],
];
for (const [seconds, text] of ages) {
  test(`formatAge: ${seconds} s is ${text}`, () => assert.equal(formatAge(seconds * 1000), text));
}
