import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Quantity } from '../../gen/kubernetes/types.ts';
import type { AdmissionNode } from '../../model/admission-node.ts';
import { goldenNames, goldenPod, loadGolden } from '../../testing/golden.ts';
import { admissionChain, admitByRules } from './chain.ts';
import { rejectedStatus } from './rejection.ts';

interface RecordedNode {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly status: {
    readonly allocatable: Readonly<Record<string, Quantity>>;
    readonly nodeInfo: { readonly architecture: string; readonly kernelVersion: string };
  };
}

/** The node of the recording, under the placeholder that the recorded pods name it by. */
function recordedNode(): AdmissionNode {
  const { metadata, status } = JSON.parse(readFileSync('test/golden/node/node.json', 'utf8')) as RecordedNode;
  return {
    name: '{{node}}',
    labels: metadata.labels,
    taints: [],
    allocatable: status.allocatable,
    os: 'linux',
    arch: status.nodeInfo.architecture,
    kernelVersion: status.nodeInfo.kernelVersion,
    pressure: [],
    shuttingDown: false,
    appArmor: { enabled: false, reason: 'AppArmor is not enabled on the host' },
    allowedUnsafeSysctls: [],
    supplementalGroupsPolicySupported: false,
    featureGates: () => true,
  };
}

const rejected = ['apparmor', 'os-windows', 'out-of-cpu', 'sysctl-unsafe'];
const node = recordedNode();

for (const name of goldenNames()) {
  const record = loadGolden(name);
  const pod = goldenPod(record);
  const result = admitByRules(admissionChain(), { pod, active: [], node });

  if (!rejected.includes(name)) {
    test(`${name} is admitted`, () => assert.deepEqual(result, { admit: true }));
    continue;
  }

  test(`${name} is rejected as recorded`, () => {
    assert.ok(result.admit === false);
    const { status, event } = rejectedStatus(pod, result, Date.parse('2030-01-02T03:04:05.678Z'));
    assert.equal(status.startTime, '2030-01-02T03:04:05Z');
    const { type: _, ...recorded } = record.statuses.find(({ phase }) => phase === 'Failed') ?? { type: 'MODIFIED' };
    assert.deepEqual({ ...status, startTime: '{{time}}' }, recorded);
    const events = record.events.map(({ type, reason, message }) => ({ type, reason, message }));
    assert.deepEqual(events, [event]);
  });
}
