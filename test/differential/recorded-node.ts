import { readFileSync } from 'node:fs';
import type { Node } from '../../src/gen/kubernetes/types.ts';
import type { Host } from '../../src/main/agent/platform.ts';
import { goldenHostDns, goldenNode } from '../../src/testing/golden.ts';
import { MemoryCgroupTree } from '../../src/testing/memory-cgroup-tree.ts';
import { FakeLogs } from '../stories/fake-logs.ts';
import { fakeHost } from '../support/fake-host.ts';
import type { FakeMachine } from '../support/fake-platform.ts';
import { goldenProber } from './golden-prober.ts';
import type { Script } from './programs.ts';
import type { RecordedNames } from './recorded-names.ts';

type PodHost = Host['pods'];

const controllers: ReadonlySet<string> = new Set(['cpu', 'cpuacct', 'cpuset', 'hugetlb', 'memory', 'pids']);

/** The Node object of the recording. */
export const recordedNode = JSON.parse(readFileSync('test/golden/node/node.json', 'utf8')) as Node;

/** The configuration of the recorded agent, where it is not the usual one. */
export function recordedFlags({ rootDir }: RecordedNames): readonly string[] {
  return [
    `--root-dir=${rootDir}`,
    '--cluster-dns=10.96.0.10',
    '--cluster-domain=cluster.local',
    '--max-pods=250',
    '--eviction-hard=imagefs.available<1%,memory.available<100Mi,nodefs.available<1%',
  ];
}

/** The machine of the recording: its kernel, its memory, its cgroups, its address. */
export function recordedHost(machine: FakeMachine, { hostIp }: RecordedNames): Partial<Host> {
  const usual = fakeHost(machine, machine.files, machine.cri);
  const { architecture = '', kernelVersion = '' } = recordedNode.status?.nodeInfo ?? {};
  const { memoryCapacityBytes: memoryBytes, hugePageSizes, swapCapacityBytes: swapBytes } = goldenNode();
  const network = usual.node.network();
  const interfaces = network.interfaces.map((each) => (each.loopback ? each : { ...each, addresses: [hostIp] }));
  return {
    machine: { ...usual.machine, memoryBytes, swapBytes, hugePageSizes, cgroupVersion: 1 },
    kernel: { ...usual.kernel, architecture, kernelVersion, hasSwapController: true },
    outwardAddresses: () => [hostIp],
    node: { ...usual.node, network: () => ({ ...network, interfaces }) },
    cgroups: {
      ...usual.cgroups,
      tree: Object.assign(new MemoryCgroupTree(), { controllers }),
      processes: { ...usual.cgroups.processes, version: 1 },
    },
  };
}

/** What pods have of it; a script answers their probes. */
export function recordedPodHost({ clock, cri, files }: FakeMachine, script: Script): (own: PodHost) => PodHost {
  return (own) => ({
    ...own,
    terminationMessages: new FakeLogs(files),
    prober: goldenProber({ clock, cri, script }),
    dns: async () => goldenHostDns,
  });
}
