import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObservedSandbox } from '../../model/observed-pod.ts';
import { aPod, aSandbox, observedPod } from '../../testing/pods.ts';
import { computeSandboxChange } from './compute-sandbox-change.ts';

interface Case {
  readonly hostNetwork?: boolean;
  readonly sandboxes: readonly ObservedSandbox[];
}

function change({ hostNetwork, sandboxes }: Case): string {
  const pod = aPod({ spec: { ...(hostNetwork !== undefined && { hostNetwork }) } });
  const change = computeSandboxChange(pod, observedPod(sandboxes, []));
  return change.kind === 'keep' ? `keep ${change.id}` : `#${change.attempt}: ${change.reason}`;
}

const node = { network: 'node', ips: [] } as const;
const lost = { state: 'notReady' } as const;

const cases: Readonly<Record<string, readonly [Case, string]>> = {
  'none yet': [{ sandboxes: [] }, '#0: there is no sandbox'],
  ready: [{ sandboxes: [aSandbox('s0')] }, 'keep s0'],
  'ready beside an old one that is not': [
    { sandboxes: [aSandbox('s1', { attempt: 1 }), aSandbox('s0', lost)] },
    'keep s1',
  ],
  'not ready: one attempt more than the newest': [
    { sandboxes: [aSandbox('s7', { ...lost, attempt: 7 }), aSandbox('s2', { ...lost, attempt: 2 })] },
    '#8: the sandbox is not ready',
  ],
  'an older one is ready, the newest is not': [
    { sandboxes: [aSandbox('s1', { ...lost, attempt: 1 }), aSandbox('s0')] },
    '#2: the sandbox is not ready',
  ],
  'two are ready': [
    { sandboxes: [aSandbox('s1', { attempt: 1 }), aSandbox('s0')] },
    '#2: more than one sandbox is ready',
  ],
  'without address': [{ sandboxes: [aSandbox('s0', { ips: [] })] }, '#1: the sandbox has no address'],
  'the runtime does not report addresses': [
    { sandboxes: [aSandbox('s0', { ips: [], networkKnown: false })] },
    'keep s0',
  ],
  'host network has no address': [{ hostNetwork: true, sandboxes: [aSandbox('s0', node)] }, 'keep s0'],
  'from the pod network to the host': [
    { hostNetwork: true, sandboxes: [aSandbox('s0')] },
    '#1: the network namespace of the spec is another one',
  ],
  'from the host network to the pod': [
    { hostNetwork: false, sandboxes: [aSandbox('s0', node)] },
    '#1: the network namespace of the spec is another one',
  ],
};

for (const [name, [given, expected]] of Object.entries(cases)) {
  test(`sandbox: ${name}`, () => assert.equal(change(given), expected));
}
