import type { Host } from '../../../src/main/agent/platform.ts';
import { fakeHost } from '../../support/fake-host.ts';
import type { FakeMachine } from '../../support/fake-platform.ts';
import type { FuzzFolder } from './folder.ts';
import { watchedDisk, type Touch } from './watched-disk.ts';

/** What the fakes of a world record. */
export interface WorldRecord {
  readonly touches: Touch[];
}

/** What a machine of the fuzzer has that others have not: a disk with a record, probes and hooks that reach nothing real. */
export function fuzzedHost(machine: FakeMachine, folder: FuzzFolder, record: WorldRecord): Partial<Host> {
  const { pods, sources, volumes } = fakeHost(machine, machine.files, machine.cri);
  const disk = watchedDisk(machine.files, (touch) => void record.touches.push(touch));
  return {
    pods: {
      ...pods,
      files: disk.files,
      prober: async ({ container }) =>
        container.name.endsWith('1') ? { kind: 'failure', output: 'x'.repeat(100) } : { kind: 'success', output: '' },
      hookRequests: { send: async () => ({ status: 200 }) },
    },
    sources: { ...sources, files: folder },
    volumes: { ...volumes, host: disk.volumeHost, programs: disk.mountPrograms },
  };
}
