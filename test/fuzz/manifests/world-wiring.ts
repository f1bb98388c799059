import type { PodWorldDeps } from '../../support/pod-world.ts';
import type { Registry } from '../../../src/telemetry/index.ts';
import { anAdmissionNode } from '../../../src/testing/admission-node.ts';
import type { AgentWorld } from '../../support/agent-world.ts';
import { watchedDisk, type Touch } from './watched-disk.ts';

/** What the fakes of a world record. */
export interface WorldRecord {
  readonly touches: Touch[];
}

/** What a world of the fuzzer has that others have not: a disk with a record, probes and hooks that reach nothing real. */
export function fakeWiring(record: WorldRecord, metrics: Registry): (node: AgentWorld) => Partial<PodWorldDeps> {
  return (node) => ({
    ...watchedDisk(node.files, (touch) => void record.touches.push(touch)),
    metrics,
    prober: async ({ container }) =>
      container.name.endsWith('1') ? { kind: 'failure', output: 'x'.repeat(100) } : { kind: 'success', output: '' },
    hookRequests: { send: async () => ({ status: 200 }) },
    admissionNode: () =>
      anAdmissionNode({
        allocatable: { cpu: '1000', memory: '8000Gi', 'ephemeral-storage': '100Ti', pods: '1000' },
      }),
  });
}
