import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sandboxId } from '../../base/ids.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import type { ObservedContainer, ObservedSandbox } from '../../model/observed-pod.ts';
import { aContainer, anInstance, aPod, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { computePodActions } from './compute-actions.ts';
import type { PodActions, ProbeResult } from './pod-actions.ts';

interface Case {
  readonly spec?: Partial<PodSpec>;
  readonly deleting?: boolean;
  readonly sandboxes?: readonly ObservedSandbox[];
  readonly containers?: readonly ObservedContainer[];
  readonly liveness?: Readonly<Record<string, ProbeResult>>;
  readonly startup?: Readonly<Record<string, ProbeResult>>;
}

/** The actions in short: one word per action, in order. */
function decide(given: Case): string {
  const pod = aPod({
    ...(given.spec && { spec: given.spec }),
    ...(given.deleting && { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
  });
  const observed = observedPod(given.sandboxes ?? [aSandbox('s0')], given.containers ?? []);
  const resultOf = (of: Case['liveness']) => (id: string) => of?.[id] ?? 'unknown';
  return inShort(
    computePodActions({
      pod,
      observed,
      probes: { liveness: resultOf(given.liveness), startup: resultOf(given.startup) },
    }),
  );
}

function inShort(actions: PodActions): string {
  return [
    actions.killPod && 'kill-pod',
    actions.createSandbox && `sandbox#${actions.createSandbox.attempt}`,
    ...actions.kill.map(({ id }) => `kill ${id}`),
    ...actions.start.map(({ container }) => `start ${container.name}`),
  ]
    .filter((word) => word !== undefined)
    .join(', ');
}

const inits = (...names: string[]): Partial<PodSpec> => ({ initContainers: names.map((name) => aContainer(name)) });
const sidecar = (name: string) => aContainer(name, { restartPolicy: 'Always' });
const never: Partial<PodSpec> = { restartPolicy: 'Never' };
const onFailure: Partial<PodSpec> = { restartPolicy: 'OnFailure' };

function table(name: string, cases: Readonly<Record<string, readonly [Case, string]>>): void {
  describe(name, () => {
    for (const [what, [given, expected]] of Object.entries(cases))
      test(what, () => assert.equal(decide(given), expected));
  });
}

table('sandbox', {
  'none yet': [{ sandboxes: [] }, 'sandbox#0, start main'],
  'none yet, with init containers: only the first of them': [
    { sandboxes: [], spec: inits('one', 'two') },
    'sandbox#0, start one',
  ],
  'not ready: a new attempt, all containers': [
    { sandboxes: [aSandbox('s0', { state: 'notReady', attempt: 4 })], containers: [anInstance('main', exited(0))] },
    'kill-pod, sandbox#5, start main',
  ],
  'two ready at once: both go': [
    { sandboxes: [aSandbox('s1', { attempt: 1 }), aSandbox('s0')] },
    'kill-pod, sandbox#2, start main',
  ],
  'without address': [{ sandboxes: [aSandbox('s0', { ips: [] })] }, 'kill-pod, sandbox#1, start main'],
  'without address, where the runtime does not report addresses': [
    { sandboxes: [aSandbox('s0', { ips: [], networkKnown: false })], containers: [anInstance('main')] },
    '',
  ],
  'host network needs no address': [
    {
      spec: { hostNetwork: true },
      sandboxes: [aSandbox('s0', { ips: [], network: 'node' })],
      containers: [anInstance('main')],
    },
    '',
  ],
  'network mode changed': [
    { spec: { hostNetwork: true }, containers: [anInstance('main')] },
    'kill-pod, sandbox#1, start main',
  ],
  'a pod that runs once does not run again': [
    { spec: never, sandboxes: [aSandbox('s0', { state: 'notReady' })], containers: [anInstance('main', exited(0))] },
    'kill-pod',
  ],
  'a pod that runs once and never came to start gets its chance': [
    { spec: never, sandboxes: [aSandbox('s0', { state: 'notReady' })] },
    'kill-pod, sandbox#1, start main',
  ],
  'OnFailure: what succeeded stays so': [
    {
      spec: { ...onFailure, containers: [aContainer('a'), aContainer('b')] },
      sandboxes: [aSandbox('s0', { state: 'notReady' })],
      containers: [anInstance('a', exited(0)), anInstance('b', exited(1))],
    },
    'kill-pod, sandbox#1, start b',
  ],
  'OnFailure: all succeeded, no sandbox for nothing': [
    {
      spec: onFailure,
      sandboxes: [aSandbox('s0', { state: 'notReady' })],
      containers: [anInstance('main', exited(0))],
    },
    'kill-pod',
  ],
  'no new sandbox for a pod that is being deleted': [
    { deleting: true, sandboxes: [aSandbox('s0', { state: 'notReady' })] },
    'kill-pod',
  ],
});

table('regular containers', {
  'running: nothing to do': [{ containers: [anInstance('main')] }, ''],
  'not there': [{}, 'start main'],
  'made but never started': [{ containers: [anInstance('main', { state: 'created' })] }, 'start main'],
  'ended, Always': [{ containers: [anInstance('main', exited(0))] }, 'start main'],
  'ended badly, OnFailure': [{ spec: onFailure, containers: [anInstance('main', exited(2))] }, 'start main'],
  'ended well, OnFailure: the pod is over': [
    { spec: onFailure, containers: [anInstance('main', exited(0))] },
    'kill-pod',
  ],
  'ended badly, Never: the pod is over': [{ spec: never, containers: [anInstance('main', exited(2))] }, 'kill-pod'],
  'one ended, Never, the other goes on': [
    {
      spec: { ...never, containers: [aContainer('a'), aContainer('b')] },
      containers: [anInstance('a', exited(1)), anInstance('b')],
    },
    '',
  ],
  'lost by the runtime: killed first': [
    { containers: [anInstance('main', { state: 'unknown' })] },
    'kill main-0, start main',
  ],
  'another image: replaced whatever the policy': [
    {
      spec: { ...never, containers: [aContainer('main', { image: 'localhost/other:2' })] },
      containers: [anInstance('main')],
    },
    'kill main-0, start main',
  ],
  'liveness failed': [
    { containers: [anInstance('main')], liveness: { 'main-0': 'failure' } },
    'kill main-0, start main',
  ],
  'liveness failed, Never: killed for good': [
    { spec: never, containers: [anInstance('main')], liveness: { 'main-0': 'failure' } },
    'kill-pod',
  ],
  'startup failed': [{ containers: [anInstance('main')], startup: { 'main-0': 'failure' } }, 'kill main-0, start main'],
  'nothing starts in a pod that is being deleted': [
    { deleting: true, containers: [anInstance('main', exited(1))] },
    'kill-pod',
  ],
});

table('outside', {
  'a container that runs in a sandbox that was given up is killed': [
    {
      sandboxes: [aSandbox('s1', { attempt: 1 }), aSandbox('s0', { state: 'notReady' })],
      containers: [anInstance('main', { attempt: 1, sandboxId: sandboxId('s1') }), anInstance('main')],
    },
    'kill main-0',
  ],
});

table('init containers', {
  'none yet: the first': [{ spec: inits('one', 'two') }, 'start one'],
  'first runs: wait': [{ spec: inits('one', 'two'), containers: [anInstance('one')] }, ''],
  'first done: the second': [{ spec: inits('one', 'two'), containers: [anInstance('one', exited(0))] }, 'start two'],
  'all done: the regular ones': [
    { spec: inits('one', 'two'), containers: [anInstance('two', exited(0)), anInstance('one', exited(0))] },
    'start main',
  ],
  'failed: again': [{ spec: inits('one'), containers: [anInstance('one', exited(1))] }, 'start one'],
  'out of memory is a failure whatever the exit code': [
    { spec: inits('one'), containers: [anInstance('one', { ...exited(0), reason: 'OOMKilled' })] },
    'start one',
  ],
  'failed, Never: the pod is over': [
    { spec: { ...never, ...inits('one') }, containers: [anInstance('one', exited(1))] },
    'kill-pod',
  ],
  'made but never started': [
    { spec: inits('one'), containers: [anInstance('one', { state: 'created' })] },
    'start one',
  ],
  'lost by the runtime: killed, then again': [
    { spec: inits('one'), containers: [anInstance('one', { state: 'unknown' })] },
    'kill one-0, start one',
  ],
  'those of an earlier sandbox do not count': [
    {
      spec: inits('one'),
      sandboxes: [aSandbox('s1', { attempt: 1 }), aSandbox('s0', { state: 'notReady' })],
      containers: [anInstance('one', exited(0))],
    },
    'start one',
  ],
  'a regular container runs: init containers are history': [
    { spec: inits('one'), containers: [anInstance('main'), anInstance('one', exited(1))] },
    '',
  ],
});

const withSidecar: Partial<PodSpec> = { initContainers: [sidecar('side'), aContainer('prep')] };
table('sidecars', {
  'running without startup probe: the next one': [
    { spec: withSidecar, containers: [anInstance('side')] },
    'start prep',
  ],
  'startup probe has no result yet: wait': [
    {
      spec: { initContainers: [aContainer('side', { restartPolicy: 'Always', startupProbe: {} }), aContainer('prep')] },
      containers: [anInstance('side')],
    },
    '',
  ],
  'startup probe passed: the next one': [
    {
      spec: { initContainers: [aContainer('side', { restartPolicy: 'Always', startupProbe: {} }), aContainer('prep')] },
      containers: [anInstance('side')],
      startup: { 'side-0': 'success' },
    },
    'start prep',
  ],
  'startup probe failed: replaced': [
    {
      spec: { initContainers: [aContainer('side', { restartPolicy: 'Always', startupProbe: {} })] },
      containers: [anInstance('side')],
      startup: { 'side-0': 'failure' },
    },
    'kill side-0, start side',
  ],
  'died while a later init runs: comes back beside it': [
    { spec: withSidecar, containers: [anInstance('prep'), anInstance('side', exited(1))] },
    'start side',
  ],
  'died after initialisation: comes back, policy Never or not': [
    { spec: { ...withSidecar, ...never }, containers: [anInstance('main'), anInstance('side', exited(0))] },
    'start side',
  ],
  'removed after initialisation: comes back': [{ spec: withSidecar, containers: [anInstance('main')] }, 'start side'],
  'all regular containers are over: the sidecar goes too': [
    { spec: { ...withSidecar, ...never }, containers: [anInstance('main', exited(0)), anInstance('side')] },
    'kill-pod',
  ],
  'all regular containers are over: a dead sidecar does not come back': [
    {
      spec: { initContainers: [sidecar('side')], ...never },
      containers: [anInstance('main', exited(0)), anInstance('side', exited(1))],
    },
    'kill-pod',
  ],
  'the main container crashed: it restarts beside the running sidecar': [
    { spec: { initContainers: [sidecar('side')] }, containers: [anInstance('main', exited(1)), anInstance('side')] },
    'start main',
  ],
  'liveness failed: replaced': [
    { spec: withSidecar, containers: [anInstance('main'), anInstance('side')], liveness: { 'side-0': 'failure' } },
    'kill side-0, start side',
  ],
});

table('ephemeral containers', {
  'started once': [
    { spec: { ephemeralContainers: [aContainer('debug')] }, containers: [anInstance('main')] },
    'start debug',
  ],
  'never restarted': [
    {
      spec: { ephemeralContainers: [aContainer('debug')] },
      containers: [anInstance('debug', exited(1)), anInstance('main')],
    },
    '',
  ],
  'started while init containers run': [
    { spec: { ...inits('one'), ephemeralContainers: [aContainer('debug')] }, containers: [anInstance('one')] },
    'start debug',
  ],
});

test('every decision carries its reason and the instance before', () => {
  const before = anInstance('main', exited(1));
  const observed = observedPod([aSandbox('s0')], [before]);
  const actions = computePodActions({
    pod: aPod(),
    observed,
    probes: { liveness: () => 'unknown', startup: () => 'unknown' },
  });
  assert.equal(actions.sandbox, sandboxId('s0'));
  assert.deepEqual(actions.start, [
    { container: aContainer('main'), kind: 'regular', previous: before, reason: 'it ended' },
  ]);
});

test('in a new sandbox the count of an init container goes on', () => {
  const before = anInstance('one', { ...exited(0), attempt: 3 });
  const observed = observedPod([aSandbox('s1', { attempt: 1 }), aSandbox('s0', { state: 'notReady' })], [before]);
  const { start } = computePodActions({
    pod: aPod({ spec: inits('one') }),
    observed,
    probes: { liveness: () => 'unknown', startup: () => 'unknown' },
  });
  assert.deepEqual(
    start.map(({ container, previous }) => [container.name, previous]),
    [['one', before]],
  );
});

test('what the next container has to wait for is reported where nothing is started', () => {
  const startupProbe = {};
  const cases: readonly (readonly [Case, string | undefined])[] = [
    [{ spec: inits('one', 'two'), containers: [anInstance('one')] }, 'init container one is running'],
    [
      {
        spec: { initContainers: [{ ...sidecar('proxy'), startupProbe }] },
        containers: [anInstance('proxy')],
      },
      'a sidecar has not passed its startup probe',
    ],
    [{ spec: inits('one', 'two'), containers: [anInstance('one', exited(0))] }, undefined],
    [{ containers: [anInstance('main')] }, undefined],
  ];
  for (const [{ spec = {}, containers = [] }, expected] of cases) {
    const observed = observedPod([aSandbox('s0')], containers);
    const unknown = (): ProbeResult => 'unknown';
    const probes = { liveness: unknown, startup: unknown };
    assert.equal(computePodActions({ pod: aPod({ spec }), observed, probes }).waitsFor, expected);
  }
});
