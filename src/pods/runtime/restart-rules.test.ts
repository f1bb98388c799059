import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '../../gen/kubernetes/types.ts';
import type { ObservedContainer, ObservedSandbox } from '../../model/observed-pod.ts';
import { aContainer, anInstance, aPod, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { computePodActions } from './compute-actions.ts';

interface Case {
  readonly name: string;
  readonly main?: Partial<Container>;
  readonly init?: Partial<Container>;
  readonly policy: string;
  readonly sandboxes?: readonly ObservedSandbox[];
  readonly containers: readonly ObservedContainer[];
  readonly sick?: boolean;
  /** What is started with the container's own rules, and without. */
  readonly starts: readonly [withRules: string, without: string];
}

const on42 = { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] };
const lost = [aSandbox('s0', { state: 'notReady' })];

const cases: readonly Case[] = [
  {
    name: 'a rule brings back what the pod would not',
    main: { restartPolicy: 'Never', ...on42 },
    policy: 'Never',
    containers: [anInstance('main', exited(42))],
    starts: ['main', ''],
  },
  {
    name: 'another exit code does not',
    main: { restartPolicy: 'Never', ...on42 },
    policy: 'Always',
    containers: [anInstance('main', exited(1))],
    starts: ['', 'main'],
  },
  {
    name: 'a failed probe restarts by the own policy',
    main: { restartPolicy: 'Never', ...on42 },
    policy: 'Always',
    containers: [anInstance('main')],
    sick: true,
    starts: ['', 'main'],
  },
  {
    name: 'an init container with a policy of its own is tried again',
    init: { restartPolicy: 'OnFailure' },
    policy: 'Never',
    containers: [anInstance('setup', exited(1))],
    starts: ['setup', ''],
  },
  {
    name: 'one that may not be tried again ends the pod',
    init: { restartPolicy: 'Never' },
    policy: 'Always',
    containers: [anInstance('setup', exited(1))],
    starts: ['', 'setup'],
  },
  {
    name: 'a new sandbox is made for what comes back',
    main: { restartPolicy: 'OnFailure' },
    policy: 'Never',
    sandboxes: lost,
    containers: [anInstance('main', exited(1))],
    starts: ['main', ''],
  },
  {
    name: 'and not for what does not',
    main: { restartPolicy: 'Never', ...on42 },
    policy: 'Always',
    sandboxes: lost,
    containers: [anInstance('main', exited(1))],
    starts: ['', 'main'],
  },
  {
    name: 'one that ended well stays ended under its own OnFailure',
    main: { restartPolicy: 'OnFailure' },
    policy: 'Always',
    sandboxes: lost,
    containers: [anInstance('main', exited(0))],
    starts: ['', 'main'],
  },
];

for (const { name, main = {}, init, policy, sandboxes, containers, sick, starts } of cases) {
  for (const [index, ownRestartRules] of [true, false].entries()) {
    test(`${name}; ${ownRestartRules ? 'with' : 'without'} rules of containers`, () => {
      const spec: Partial<PodSpec> = {
        restartPolicy: policy,
        containers: [aContainer('main', main)],
        ...(init && { initContainers: [aContainer('setup', init)] }),
      };
      const { start, createSandbox } = computePodActions({
        pod: aPod({ spec }),
        observed: observedPod(sandboxes ?? [aSandbox('s0')], containers),
        probes: { liveness: () => (sick === true ? 'failure' : 'success'), startup: () => 'success' },
        ownRestartRules,
      });
      assert.equal(start.map(({ container }) => container.name).join(), starts[index]);
      assert.equal(createSandbox !== undefined, sandboxes !== undefined && starts[index] !== '');
    });
  }
}
