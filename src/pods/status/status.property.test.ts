import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containerId, sandboxId } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { desiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import { isTerminalPhase, podPhases } from '../../model/reasons.ts';
import { generatePodStatus } from './generate-status.ts';
import { mergeStatus, terminateStatus } from './merge-status.ts';

const names = ['i1', 's1', 'c1', 'c2'];
const observedContainer = fc.record({
  name: fc.constantFrom(...names, 'stranger'),
  state: fc.constantFrom('created', 'running', 'exited', 'unknown'),
  attempt: fc.nat(3),
  exitCode: fc.constantFrom(0, 1, 137),
});
const moment = fc.record({
  containers: fc.array(observedContainer, { maxLength: 6 }),
  needsSandbox: fc.boolean(),
  terminal: fc.boolean(),
  started: fc.boolean(),
  ready: fc.boolean(),
  startErrors: fc.subarray(names),
  couldHaveRunningContainers: fc.boolean(),
  evicted: fc.boolean(),
});
type Moment = typeof moment extends fc.Arbitrary<infer Value> ? Value : never;

function podWith(restartPolicy: string, source: 'api' | 'file', status: PodStatus) {
  return desiredPod(source, {
    metadata: { uid: 'u', name: 'p', namespace: 'n', generation: 1 },
    spec: {
      restartPolicy,
      initContainers: [{ name: 'i1' }, { name: 's1', restartPolicy: 'Always' }],
      containers: [{ name: 'c1' }, { name: 'c2' }],
    },
    status,
  });
}

function containersOf({ containers }: Moment): ObservedContainer[] {
  return containers.map((entry, index) => ({
    ...entry,
    id: containerId(`id${index}`),
    sandboxId: sandboxId('s'),
    createdAt: 0,
    startedAt: 0,
    finishedAt: 0,
    reason: '',
    message: '',
    image: '',
    imageRef: '',
    hash: '',
    annotations: {},
    logPath: '',
  }));
}

const policies = fc.constantFrom('Always', 'OnFailure', 'Never');
const sources = fc.constantFrom('api' as const, 'file' as const);

test('over any life: no throw, a legal phase, an end that lasts, and readiness only of what runs', () => {
  fc.assert(
    fc.property(policies, sources, fc.array(moment, { minLength: 1, maxLength: 5 }), (policy, source, life) => {
      let api: PodStatus = { phase: 'Pending' };
      let previous: PodStatus | undefined;
      for (const [index, now] of life.entries()) {
        const pod = podWith(policy, source, api);
        const status = generatePodStatus({
          pod,
          observed: { ...pod, observedAt: index, sandboxes: [], containers: containersOf(now) },
          previous,
          startErrors: new Map(now.startErrors.map((name) => [name, { reason: 'CrashLoopBackOff', message: '' }])),
          probes: { ready: () => now.ready, started: () => now.started },
          terminal: now.terminal,
          ...(now.evicted && { decided: { reason: 'Evicted', message: '' } }),
          runtimeName: 'r',
          hostIps: [],
          nowMs: index * 1000,
          needsSandbox: now.needsSandbox,
        });
        assert.ok((Object.values(podPhases) as string[]).includes(status.phase ?? ''));
        if (isTerminalPhase(previous?.phase)) assert.ok(isTerminalPhase(status.phase));
        for (const entry of status.containerStatuses ?? []) {
          if (entry.ready) assert.ok(entry.state?.running !== undefined && entry.started === true);
        }
        const result = mergeStatus(api, status, { spec: pod.spec, ...now });
        if ('status' in result) {
          if (isTerminalPhase(api.phase)) assert.equal(result.status.phase, api.phase);
          const ready = result.status.conditions?.find(({ type }) => type === 'Ready');
          if (isTerminalPhase(result.status.phase)) assert.equal(ready?.status, 'False');
          api = result.status;
        }
        previous = status;
        assert.ok(isTerminalPhase(terminateStatus(status, pod.spec).phase));
      }
    }),
  );
});
