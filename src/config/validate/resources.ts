import { messageOf } from '../../base/errors.ts';
import { ownValue } from '../../base/own-value.ts';
import type { Fault } from '../fault.ts';
import { parseQosReserved } from '../../model/qos-reserved.ts';
import { Quantity } from '../../model/quantity.ts';
import { check, needsGate, oneOf, type ValidationInput } from './rule.ts';

const enforceable: readonly string[] = [
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
  'none',
];

export function checkEnforcement({ config }: ValidationInput): readonly Fault[] {
  const { enforceNodeAllocatable: wanted, cgroupsPerQOS, systemReservedCgroup, kubeReservedCgroup } = config;
  const field = 'enforceNodeAllocatable';
  const has = (key: string): boolean => wanted.includes(key);
  const enforcesCgroup = (key: string): boolean => has(key) || has(`${key}-compressible`);
  return [
    ...wanted.flatMap((key) => oneOf(field, key, enforceable)),
    ...check(new Set(wanted).size !== wanted.length, field, wanted, 'must name each key once'),
    ...check(has('none') && wanted.length > 1, field, wanted, '"none" must stand alone'),
    ...['system-reserved', 'kube-reserved'].flatMap((key) =>
      check(has(key) && has(`${key}-compressible`), field, wanted, `must not have both ${key} and ${key}-compressible`),
    ),
    ...check(
      !cgroupsPerQOS && wanted.some((key) => key !== 'none'),
      field,
      wanted,
      'must be empty or ["none"] while cgroupsPerQOS is false',
    ),
    ...check(
      enforcesCgroup('system-reserved') && systemReservedCgroup === '',
      'systemReservedCgroup',
      systemReservedCgroup,
      'must name a control group, since enforceNodeAllocatable has system-reserved',
    ),
    ...check(
      enforcesCgroup('kube-reserved') && kubeReservedCgroup === '',
      'kubeReservedCgroup',
      kubeReservedCgroup,
      'must name a control group, since enforceNodeAllocatable has kube-reserved',
    ),
  ];
}

const reservable: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

export function checkReservations({ config, gates }: ValidationInput): readonly Fault[] {
  const { reservedSystemCPUs: cpus, systemReservedCgroup, kubeReservedCgroup, systemCgroups, cgroupRoot } = config;
  return [
    ...checkReserved('systemReserved', config.systemReserved),
    ...checkReserved('kubeReserved', config.kubeReserved),
    ...check(cpus !== '' && !isCpuSet(cpus), 'reservedSystemCPUs', cpus, 'must be a set of CPUs such as 0-1,4'),
    ...check(
      cpus !== '' && (systemReservedCgroup !== '' || kubeReservedCgroup !== ''),
      'reservedSystemCPUs',
      cpus,
      'cannot be used together with systemReservedCgroup or kubeReservedCgroup',
    ),
    ...check(systemCgroups !== '' && cgroupRoot === '', 'systemCgroups', systemCgroups, 'needs cgroupRoot to be set'),
    ...needsGate(Object.keys(config.qosReserved).length > 0, 'qosReserved', 'QOSReserved', gates),
    ...Object.entries(config.qosReserved).flatMap(([key, value]) => checkQosReserved(key, value)),
  ];
}

function checkQosReserved(key: string, value: string): readonly Fault[] {
  try {
    parseQosReserved({ [key]: value });
    return [];
  } catch (error) {
    return [{ field: `qosReserved.${key}`, message: messageOf(error) }];
  }
}

function checkReserved(field: string, reserved: Readonly<Record<string, string>>): readonly Fault[] {
  return Object.entries(reserved).flatMap(([key, text]) => {
    const quantity = parsed(text);
    return [
      ...check(!reservable.includes(key), `${field}.${key}`, text, `only ${reservable.join(', ')} can be reserved`),
      ...check(quantity === undefined, `${field}.${key}`, text, 'must be a quantity such as 500m or 1Gi'),
      ...check(quantity?.sign() === -1, `${field}.${key}`, text, 'must not be negative'),
    ];
  });
}

export function checkReservedMemory({ config }: ValidationInput): readonly Fault[] {
  const seen = new Set<string>();
  return config.reservedMemory.flatMap(({ numaNode, limits }, index) =>
    Object.entries(limits).flatMap(([kind, quantity]) => {
      const field = `reservedMemory.${index}.limits.${kind}`;
      const key = `${numaNode} ${kind}`;
      const repeated = seen.has(key);
      seen.add(key);
      return [
        ...check(
          kind !== 'memory' && !kind.startsWith('hugepages-'),
          field,
          quantity,
          'only memory and hugepages-<size> can be reserved',
        ),
        ...check(quantity.sign() !== 1, field, quantity, 'must be more than nothing'),
        ...check(repeated, field, quantity, `is already reserved for NUMA node ${numaNode}`),
      ];
    }),
  );
}

/** The options of the CPU policy, with the gate that each needs. */
const cpuOptions: Readonly<Record<string, 'CPUManagerPolicyBetaOptions' | 'CPUManagerPolicyAlphaOptions' | undefined>> =
  {
    'full-pcpus-only': undefined,
    'distribute-cpus-across-numa': 'CPUManagerPolicyBetaOptions',
    'strict-cpu-reservation': 'CPUManagerPolicyBetaOptions',
    'prefer-align-cpus-by-uncorecache': 'CPUManagerPolicyBetaOptions',
    'align-by-socket': 'CPUManagerPolicyAlphaOptions',
    'distribute-cpus-across-cores': 'CPUManagerPolicyAlphaOptions',
  };

export const topologyOptions: readonly string[] = ['prefer-closest-numa-nodes', 'max-allowable-numa-nodes'];

export function checkPolicyOptions({ config, gates }: ValidationInput): readonly Fault[] {
  const topologyKeys = Object.keys(config.topologyManagerPolicyOptions);
  const topology = topologyKeys.length > 0;
  return [
    ...needsGate(topology, 'topologyManagerPolicyOptions', 'TopologyManagerPolicyOptions', gates),
    // The policy `none` ignores its options.
    ...(config.topologyManagerPolicy === 'none' ? [] : topologyKeys).flatMap((option) =>
      oneOf(`topologyManagerPolicyOptions.${option}`, option, topologyOptions),
    ),
    ...Object.keys(config.cpuManagerPolicyOptions).flatMap((option) => {
      const field = `cpuManagerPolicyOptions.${option}`;
      const gate = ownValue(cpuOptions, option);
      return [
        ...oneOf(field, option, Object.keys(cpuOptions)),
        ...(gate === undefined ? [] : needsGate(true, field, gate, gates)),
      ];
    }),
  ];
}

export function checkMemory({ config }: ValidationInput): readonly Fault[] {
  const { memoryThrottlingFactor: factor, userNamespaces } = config;
  const ids = userNamespaces?.idsPerPod;
  return [
    ...check(!(factor > 0 && factor <= 1), 'memoryThrottlingFactor', factor, 'must be above 0 and at most 1'),
    ...check(
      ids !== undefined && (ids < 65536 || ids % 65536 !== 0 || ids > 2 ** 32 - 1),
      'userNamespaces.idsPerPod',
      ids,
      'must be a multiple of 65536, at least 65536 and below 2^32',
    ),
  ];
}

export function parsed(text: string): Quantity | undefined {
  try {
    return Quantity.parse(text);
  } catch {
    // The caller reports the expected value.
    return undefined;
  }
}

function isCpuSet(text: string): boolean {
  return text.split(',').every((part) => {
    const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    return first !== undefined && (last === undefined || Number(first) <= Number(last));
  });
}
