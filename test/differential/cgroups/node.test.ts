import assert from 'node:assert/strict';
import type { CgroupValues } from '../../../src/model/cgroup-values.ts';
import { sharesToWeight } from '../../../src/model/cpu.ts';
import { nodeAllocatable, nodeReservation, overReserved, type Amounts } from '../../../src/model/node-allocatable.ts';
import { parseQosReserved } from '../../../src/model/qos-reserved.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import {
  allPodsValues,
  reservedCgroups,
  type NodeCgroupSettings,
} from '../../../src/resources/cgroups/node-cgroup-values.ts';
import { podDemand, qosCgroupValues } from '../../../src/resources/cgroups/qos-cgroup-values.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';
import { recordedPods } from './recorded-pods.ts';

type Values = Readonly<Record<string, unknown>>;

interface NodeRow {
  readonly config: {
    readonly name: string;
    readonly capacity: Amounts;
    readonly pids?: string;
    readonly systemReserved?: Amounts;
    readonly kubeReserved?: Amounts;
    readonly evictionHard?: Amounts;
    readonly enforceNodeAllocatable: readonly string[] | null;
    readonly memoryQoS?: boolean;
  };
  readonly reservation: Values;
  readonly absolute: Values;
  readonly absoluteWithPids: Values;
  readonly kubepods: Values;
  readonly systemCgroup?: Values;
  readonly kubeCgroup?: Values;
  readonly invalid?: readonly string[];
}

interface TierRow {
  readonly pods: readonly string[] | 'all';
  readonly memoryQoS?: boolean;
  readonly allocatableMemory?: string;
  readonly qosReservedMemoryPercent?: number;
  readonly guaranteed: Values;
  readonly burstable: Values;
  readonly besteffort: Values;
}

interface QosReservedRow {
  readonly memory?: string;
  readonly cpu?: string;
  readonly value?: number;
  readonly error?: string;
}

const {
  nodes,
  qosTiers,
  parseQosReserved: percentages,
} = loadTable<{
  readonly nodes: readonly NodeRow[];
  readonly qosTiers: readonly TierRow[];
  readonly parseQosReserved: readonly QosReservedRow[];
}>('cgroups/node');

compareRows(
  'node',
  nodes.map(({ config, ...recorded }) => ({ key: config.name, recorded, ours: () => answersFor(config) })),
  differences,
);

function answersFor(config: NodeRow['config']): object {
  const { capacity, evictionHard = {}, pids } = config;
  const reserved = { kube: config.kubeReserved ?? {}, system: config.systemReserved ?? {} };
  const settings: NodeCgroupSettings = {
    cgroupRoot: '/',
    cgroupDriver: 'cgroupfs',
    capacity: { ...capacity, ...(pids !== undefined && { pid: pids }) },
    reserved,
    evictionHard,
    enforced: config.enforceNodeAllocatable ?? [],
    systemReservedCgroup: '/system',
    kubeReservedCgroup: '/kube',
    memoryQos: config.memoryQoS === true,
    hugePageSizes: [],
    cpus: '',
  };
  const cgroups = new Map(reservedCgroups(settings).map(({ configured, values }) => [configured, valuesOf(values)]));
  const invalid = overReserved(settings.capacity, reserved, evictionHard).toSorted();
  return {
    reservation: plainAmounts(nodeReservation(settings.capacity, reserved, evictionHard)),
    absolute: plainAmounts(quantities(nodeAllocatable(capacity, reserved))),
    absoluteWithPids: plainAmounts(quantities(nodeAllocatable(settings.capacity, reserved))),
    kubepods: valuesOf(allPodsValues(settings)),
    systemCgroup: cgroups.get('/system'),
    kubeCgroup: cgroups.get('/kube'),
    invalid: invalid.length === 0 ? undefined : invalid,
  };
}

const quantities = (amounts: Amounts): ReadonlyMap<string, Quantity> =>
  new Map(Object.entries(amounts).map(([name, text]) => [name, Quantity.parse(text)] as const));

/** CPU in thousandths, others in units. */
function plainAmounts(amounts: ReadonlyMap<string, Quantity>): Values {
  return Object.fromEntries(
    [...amounts].map(([name, amount]) => [name, name === 'cpu' ? amount.milliValue() : amount.value()]),
  );
}

const pageBytes: Readonly<Record<string, string>> = { '64KB': '65536', '2MB': '2097152', '1GB': '1073741824' };

function valuesOf({ cpuShares, memoryBytes, pids, hugePages = new Map(), unified }: CgroupValues): Values {
  return {
    cpuShares,
    cpuWeight: cpuShares === undefined ? undefined : sharesToWeight(cpuShares),
    memory: memoryBytes,
    pids,
    hugePages:
      hugePages.size === 0 ? undefined : new Map([...hugePages].map(([size, limit]) => [pageBytes[size], limit])),
    unified: unified !== undefined && Object.keys(unified).length > 0 ? unified : undefined,
  };
}

const pods = recordedPods();

compareRows(
  'qosTiers',
  qosTiers.map(({ pods: names, memoryQoS, allocatableMemory, qosReservedMemoryPercent: percent, ...recorded }) => ({
    key: JSON.stringify([names, memoryQoS, percent]),
    recorded,
    ours: () => {
      const chosen = names === 'all' ? [...pods.values()] : names.map((name) => pods.get(name) ?? assert.fail(name));
      const { Guaranteed, Burstable, BestEffort } = qosCgroupValues(chosen.map(podDemand), {
        hugePageSizes: [],
        memoryQos: memoryQoS === true,
        allocatableMemoryBytes: Quantity.parse(allocatableMemory ?? '0').value(),
        ...(percent !== undefined && { reservedMemoryPercent: BigInt(percent) }),
      });
      return { guaranteed: valuesOf(Guaranteed), burstable: valuesOf(Burstable), besteffort: valuesOf(BestEffort) };
    },
  })),
  differences,
);

compareRows(
  'parseQosReserved',
  percentages.map(({ value, error, ...reserved }) => ({
    key: JSON.stringify(reserved),
    recorded: value ?? { error },
    ours: () => parseQosReserved(reserved),
  })),
  differences,
);
