import assert from 'node:assert/strict';
import { sharesToWeight } from '../../../src/model/cpu.ts';
import type { DesiredPod } from '../../../src/model/desired-pod.ts';
import { computeQos, podQos } from '../../../src/model/qos.ts';
import { podFeatures } from '../../../src/pods/admission/rules/pod-features.ts';
import { podCgroupValues, type PodCgroupSettings } from '../../../src/resources/cgroups/pod-cgroup-values.ts';
import { anAdmissionNode } from '../../../src/testing/admission-node.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';
import { recordedPods } from './recorded-pods.ts';

type Values = Readonly<Record<string, unknown>>;

/** Variants hold what differs from `plain`; null where a value is not set. */
type Recorded = Readonly<Partial<Record<string, Values>>> & { readonly plain: Values; readonly qos: string };

const { pods: recorded } = loadTable<{ readonly pods: Readonly<Record<string, Recorded>> }>('cgroups/pod-config');

const plain: PodCgroupSettings = {
  cpuCfsQuota: true,
  cpuPeriodUs: 100_000n,
  podPidsLimit: -1,
  memoryQos: false,
  hugePageSizes: [],
};
const variants: Readonly<Record<string, Partial<PodCgroupSettings>>> = {
  plain: {},
  withoutQuota: { cpuCfsQuota: false },
  period20ms: { cpuPeriodUs: 20_000n },
  memoryQoS: { memoryQos: true },
};

const pods = recordedPods();

compareRows(
  'qos',
  [...pods].map(([name, pod]) => ({
    key: name,
    recorded: recorded[name]?.qos,
    ours: () => (pod.status.qosClass === undefined ? computeQos(pod.spec) : podQos(pod)),
  })),
  differences,
);

compareRows(
  'pod-config',
  [...pods].flatMap(([name, pod]) =>
    Object.entries(variants).map(([variant, settings]) => ({
      key: `${name} ${variant}`,
      recorded: expected(name, variant),
      ours: () => valuesOf(pod, { ...plain, ...settings }),
    })),
  ),
  differences,
);

/** With the gate PodLevelResources off the values of pods that have such resources never matter: the node refuses them. */
compareRows(
  'withoutPodLevelGate',
  Object.entries(recorded)
    .filter(([, { qosWithoutPodLevelGate: qos }]) => qos !== undefined)
    .map(([name]) => ({
      key: name,
      recorded: 'PodLevelResourcesNotSupported',
      ours: () => {
        const pod = pods.get(name) ?? assert.fail(name);
        const outcome = podFeatures({ pod, active: [], node: anAdmissionNode({ featureGates: () => false }) });
        return outcome.admit === false ? outcome.reason : 'admitted';
      },
    })),
  differences,
);

function expected(name: string, variant: string): Values {
  const ofPod = recorded[name] ?? assert.fail(`${name} is not recorded`);
  const entries = Object.entries({ ...ofPod.plain, ...(variant === 'plain' ? {} : ofPod[variant]) });
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

const pageBytes: Readonly<Record<string, string>> = { '64KB': '65536', '2MB': '2097152', '1GB': '1073741824' };

function valuesOf(pod: DesiredPod, settings: PodCgroupSettings): Values {
  const {
    cpuShares,
    cpuQuotaUs,
    cpuPeriodUs,
    memoryBytes,
    hugePages = new Map(),
    unified,
  } = podCgroupValues(pod, settings);
  return {
    cpuShares,
    cpuWeight: cpuShares === undefined ? undefined : sharesToWeight(cpuShares),
    cpuQuota: cpuQuotaUs,
    cpuPeriod: cpuPeriodUs,
    memory: memoryBytes,
    hugePages:
      hugePages.size === 0 ? undefined : new Map([...hugePages].map(([size, limit]) => [pageBytes[size], limit])),
    unified,
  };
}
