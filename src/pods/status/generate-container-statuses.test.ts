import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, sandboxId } from '../../base/ids.ts';
import type { ContainerStatus, PodSpec } from '../../gen/kubernetes/types.ts';
import { desiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import { generateContainerStatuses, type ContainerStatusesInput } from './generate-container-statuses.ts';

const time = Date.parse('2030-01-01T00:00:00Z');

function observed(fields: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: containerId('id1'),
    sandboxId: sandboxId('sb'),
    name: 'c',
    attempt: 0,
    state: 'running',
    createdAt: time,
    startedAt: time,
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'docker.io/library/i:1',
    imageRef: 'sha256:1',
    hash: '',
    annotations: {},
    logPath: '',
    ...fields,
  };
}

const dead = (fields: Partial<ObservedContainer> = {}) =>
  observed({ state: 'exited', exitCode: 1, reason: 'Error', finishedAt: time + 1000, ...fields });

interface Changes extends Partial<Omit<ContainerStatusesInput, 'pod'>> {
  readonly spec?: Partial<PodSpec>;
  readonly deleting?: boolean;
}

function status({ spec = {}, deleting = false, ...changes }: Changes): ContainerStatus {
  const pod = desiredPod('api', {
    metadata: { uid: 'u', name: 'p', namespace: 'n', ...(deleting && { deletionTimestamp: '2030-01-01T00:00:00Z' }) },
    spec: { containers: [], restartPolicy: 'Always', ...spec },
  });
  const [made] = generateContainerStatuses({
    pod,
    kind: 'regular',
    containers: [{ name: 'c', image: 'i:1' }],
    observed: [],
    previous: [],
    startErrors: new Map(),
    probes: { ready: () => true, started: () => true },
    runtimeName: 'containerd',
    recursiveReadOnly: false,
    features: { ownRestartRules: false, stopSignals: true, users: true },
    ...changes,
  });
  assert.ok(made);
  return made;
}

const was = (fields: Partial<ContainerStatus>): ContainerStatus[] => [
  { name: 'c', ready: true, restartCount: 2, image: 'i:1', imageID: '', ...fields },
];
const backOff = new Map([['c', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]]);

test('not made yet', () => {
  assert.deepEqual(status({}), {
    name: 'c',
    state: { waiting: { reason: 'ContainerCreating' } },
    lastState: {},
    ready: false,
    started: false,
    restartCount: 0,
    image: 'i:1',
    imageID: '',
  });
  assert.equal(status({ spec: { initContainers: [{ name: 'i' }] } }).state?.waiting?.reason, 'PodInitializing');
});

test('running, with the instance before it', () => {
  const made = status({ observed: [observed({ attempt: 1 }), dead({ id: containerId('id0') })] });
  assert.deepEqual(made.state, { running: { startedAt: '2030-01-01T00:00:00Z' } });
  assert.deepEqual(made.lastState, {
    terminated: {
      exitCode: 1,
      reason: 'Error',
      startedAt: '2030-01-01T00:00:00Z',
      finishedAt: '2030-01-01T00:00:01Z',
      containerID: 'containerd://id0',
    },
  });
  assert.deepEqual(
    [made.restartCount, made.image, made.imageID, made.containerID],
    [1, 'docker.io/library/i:1', 'sha256:1', 'containerd://id1'],
  );
});

test('the instance before stays in the status when it is taken out of the runtime', () => {
  const lastState = { terminated: { exitCode: 7 } };
  const previous = was({ containerID: 'containerd://id1', state: { terminated: { exitCode: 1 } }, lastState });
  assert.deepEqual(status({ observed: [dead()], previous }).lastState, lastState);
  assert.deepEqual(status({ observed: [dead()], previous, deleting: true }).lastState, {});
  assert.deepEqual(status({ observed: [dead({ id: containerId('id2') })], previous }).lastState, {});
  const waiting = was({ containerID: 'containerd://id1', state: { waiting: {} }, lastState });
  assert.deepEqual(status({ observed: [dead()], previous: waiting }).lastState, {});
});

test('probes decide only about what runs', () => {
  const flags = (changes: Changes) => {
    const { started, ready } = status(changes);
    return [started, ready];
  };
  const probes = { ready: () => false, started: () => true };
  assert.deepEqual(flags({ observed: [observed()] }), [true, true]);
  assert.deepEqual(flags({ observed: [observed()], probes }), [true, false]);
  assert.deepEqual(flags({ observed: [observed()], probes: { ready: () => true, started: () => false } }), [
    false,
    false,
  ]);
  assert.deepEqual(flags({ observed: [dead()] }), [false, false]);
  assert.deepEqual(flags({ observed: [dead({ exitCode: 0 })], kind: 'init' }), [false, true]);
  assert.deepEqual(flags({ observed: [observed()], kind: 'init' }), [true, false]);
  assert.deepEqual(flags({ observed: [observed()], kind: 'ephemeral' }), [undefined, false]);
});

test('a start error shows on what is to start again', () => {
  const shown = (changes: Changes) => status({ startErrors: backOff, ...changes }).state?.waiting?.reason;
  const reason = 'CrashLoopBackOff';
  assert.equal(shown({ observed: [dead()] }), reason);
  assert.equal(shown({ observed: [] }), reason);
  assert.equal(shown({ observed: [dead()], spec: { restartPolicy: 'OnFailure' } }), reason);
  assert.equal(shown({ observed: [dead({ exitCode: 0 })], spec: { restartPolicy: 'OnFailure' } }), undefined);
  assert.equal(shown({ observed: [dead()], spec: { restartPolicy: 'Never' } }), undefined);
  assert.equal(shown({ observed: [dead()], deleting: true }), undefined);
  assert.equal(shown({ observed: [observed()] }), undefined);
  assert.equal(shown({ observed: [observed({ state: 'created' })] }), reason);
  assert.equal(shown({ observed: [dead({ exitCode: 0 })], kind: 'init' }), undefined);
  const sidecar = { kind: 'init', containers: [{ name: 'c', restartPolicy: 'Always' }] } as const;
  assert.equal(shown({ observed: [dead()], ...sidecar }), reason);
  assert.equal(shown({ observed: [dead({ exitCode: 0 })], ...sidecar }), undefined);
  // A sidecar's own policy shows only where containers may have one.
  const once = { spec: { restartPolicy: 'Never' }, observed: [dead()] };
  assert.equal(shown({ ...once, ...sidecar }), undefined);
  const features = { ownRestartRules: true, stopSignals: false, users: false };
  assert.equal(shown({ ...once, ...sidecar, features }), reason);
  assert.equal(shown({ ...once, containers: [{ name: 'c', restartPolicy: 'OnFailure' }], features }), reason);
  const made = status({ startErrors: backOff, observed: [dead()] });
  assert.equal(made.lastState?.terminated?.exitCode, 1);
});

test('an end that was seen is kept when the runtime forgets', () => {
  const previous = was({ state: { terminated: { exitCode: 3 } }, ready: false, started: false });
  assert.deepEqual(status({ previous }), previous[0]);
});

test('a container that ran and was removed has ended with an unknown status', () => {
  const previous = was({ state: { running: {} } });
  const made = status({ previous });
  assert.deepEqual(made.state, { waiting: { reason: 'ContainerCreating' } });
  assert.deepEqual(made.lastState?.terminated, {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was deleted.  The container used to be Running',
  });
  assert.equal(made.restartCount, 3);
  assert.equal(status({ previous, deleting: true }).restartCount, 2);
  const again = status({ previous: [made] });
  assert.deepEqual([again.restartCount, again.lastState], [3, made.lastState]);
});

test('an instance the runtime has lost track of', () => {
  const lost = [observed({ state: 'unknown' })];
  assert.deepEqual(status({ observed: lost, previous: was({ state: { running: {} } }) }).state?.terminated, {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
  });
  assert.deepEqual(status({ observed: lost }).state, { waiting: {} });
  assert.equal(status({ observed: lost, previous: was({ state: { running: {} } }) }).restartCount, 3);
});

test('resources and user of what exists', () => {
  const containers = [{ name: 'c', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }];
  const made = status({ containers, observed: [observed()] });
  assert.deepEqual(made.resources, { limits: { cpu: '2' }, requests: { cpu: '1' } });
  assert.deepEqual(made.allocatedResources, { cpu: '1' });
  assert.equal(status({ containers }).resources, undefined);
  const user = { uid: 1, gid: 2, supplementalGroups: [] };
  const reported = [observed({ user, stopSignal: 'SIGUSR1' })];
  const detailed = status({ containers, observed: reported });
  assert.deepEqual([detailed.user, detailed.stopSignal], [{ linux: { uid: 1, gid: 2 } }, 'SIGUSR1']);
  const features = { ownRestartRules: false, stopSignals: false, users: false };
  const plain = status({ containers, observed: reported, features });
  assert.deepEqual([plain.user, plain.stopSignal], [undefined, undefined]);
});

test('mounts', () => {
  const containers = [
    {
      name: 'c',
      volumeMounts: [
        { name: 'a', mountPath: '/a' },
        { name: 'b', mountPath: '/b', readOnly: true, recursiveReadOnly: 'IfPossible' },
      ],
    },
  ];
  const modes = (recursiveReadOnly: boolean) =>
    status({ containers, recursiveReadOnly }).volumeMounts?.map((mount) => mount.recursiveReadOnly);
  assert.deepEqual(modes(true), [undefined, 'Enabled']);
  assert.deepEqual(modes(false), [undefined, 'Disabled']);
});

test('a mount at what can be no path is not repeated', () => {
  const volumeMounts = [
    { name: 'a', mountPath: '/a' },
    { name: 'a', mountPath: `/${'x'.repeat(4_096)}` },
    { name: 'x'.repeat(300), mountPath: '/b' },
  ];
  const shown = status({ containers: [{ name: 'c', volumeMounts }] }).volumeMounts;
  assert.deepEqual(shown, [{ name: 'a', mountPath: '/a' }]);
});

test('the name of an image ends somewhere', () => {
  const { image } = status({ containers: [{ name: 'c', image: 'x'.repeat(100_000) }] });
  assert.equal(image, 'x'.repeat(4_096));
});

test('regular containers by name, init containers as in the spec', () => {
  const containers = [{ name: 'z' }, { name: 'c' }];
  assert.equal(status({ containers }).name, 'c');
  assert.equal(status({ containers, kind: 'init' }).name, 'z');
});

test('an instance that was made but never started is not counted as a restart', () => {
  const made = observed({ state: 'created', attempt: 3 });
  assert.equal(status({ observed: [made, dead({ attempt: 2 })] }).restartCount, 2);
  assert.equal(status({ observed: [made] }).restartCount, 3);
});

test('the restart count never goes back, also when the newest instance was removed', () => {
  assert.equal(status({ observed: [dead({ attempt: 1 })], previous: was({ restartCount: 2 }) }).restartCount, 2);
  assert.equal(status({ observed: [dead({ attempt: 3 })], previous: was({ restartCount: 2 }) }).restartCount, 3);
});
