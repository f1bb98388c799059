import type { MachineFacts, OwnedUsage, UsageSnapshot } from '../../model/usage.ts';
import { cgroupFamilies, pressureFamilies } from './cgroup-families.ts';
import { cgroupSubjects, type CgroupSubject } from './cgroup-subject.ts';
import {
  byName,
  familyText,
  label,
  labelText,
  lineEnd,
  noLabels,
  stampOf,
  type Family,
  type Subject,
} from './family.ts';
import { ioFamilies } from './io-families.ts';

export interface ScrapeOptions {
  /** Something could not be read, though there is a snapshot; the page says so and shows the rest. */
  readonly incomplete?: boolean;
}

interface MachineSubject extends Subject {
  readonly facts: MachineFacts;
  readonly labels: string;
  /** With the modes of persistent memory modules. */
  readonly moduleModes: readonly string[];
}

/** Whether a part of the page could not be read. */
interface ScrapeResult extends Subject {
  readonly failed: boolean;
}

const machine = (name: string, help: string, value: (facts: MachineFacts) => number): Family<MachineSubject> => ({
  name,
  type: 'gauge',
  help,
  timed: true,
  each: ({ labels, facts }, put) => put(labels, value(facts)),
});

const machineFamilies: readonly Family<MachineSubject>[] = [
  machine('machine_cpu_cores', 'Logical processors.', (facts) => facts.cores),
  machine('machine_cpu_physical_cores', 'Physical cores.', (facts) => facts.physicalCores),
  machine('machine_cpu_sockets', 'Sockets with processors.', (facts) => facts.sockets),
  machine('machine_memory_bytes', 'Memory of the machine.', (facts) => facts.memoryBytes),
  machine('machine_swap_bytes', 'Swap of the machine.', (facts) => facts.swapBytes),
];

/** Kubelets are built without what reads persistent memory modules, and write these zeros on every machine. */
const moduleFamilies: readonly Family<MachineSubject>[] = [
  machine('machine_nvm_avg_power_budget_watts', 'Always zero: persistent memory modules are not read.', () => 0),
  {
    ...machine('machine_nvm_capacity', 'Always zero: persistent memory modules are not read.', () => 0),
    each: ({ moduleModes }, put) => {
      for (const labels of moduleModes) put(labels, 0);
    },
  },
];

/** There is no cAdvisor in here and no Docker, so their versions stay empty, as a kubelet leaves them. */
const version: Family<MachineSubject> = {
  name: 'cadvisor_version_info',
  type: 'gauge',
  help: 'Always 1; the labels say which kernel and system this is.',
  timed: false,
  each: ({ facts }, put) =>
    put(
      labelText(
        [
          label('cadvisorRevision', ''),
          label('cadvisorVersion', ''),
          label('dockerVersion', ''),
          label('kernelVersion', facts.kernelVersion),
          label('osVersion', facts.osImage),
        ].join(','),
      ),
      1,
    ),
};

const scrapeError = (name: string, help: string): Family<ScrapeResult> => ({
  name,
  type: 'gauge',
  help,
  timed: false,
  each: ({ failed }, put) => put(noLabels, failed ? 1 : 0),
});
const containerScrapeError = scrapeError(
  'container_scrape_error',
  '1 if values of containers could not be read, else 0.',
);
const machineScrapeError = scrapeError('machine_scrape_error', '1 if values of the machine could not be read, else 0.');

/** A family together with those it is written for. */
interface Part {
  readonly name: string;
  readonly text: () => string;
}

const part = <S extends Subject>(family: Family<S>, subjects: readonly S[]): Part => ({
  name: family.name,
  text: () => familyText(family, subjects),
});

/**
 * The page /metrics/cadvisor, one family after the other by name, so that the server can let other work run in
 * between. A snapshot or facts that could not be read are undefined.
 */
export function* cadvisorPage(
  snapshot: UsageSnapshot | undefined,
  facts: MachineFacts | undefined,
  options: ScrapeOptions = {},
): Generator<string, void, undefined> {
  const cgroups: readonly CgroupSubject[] = cgroupSubjects(withMachineLimits(snapshot?.cgroups ?? [], facts));
  const machines = facts === undefined ? [] : [machineSubject(facts, snapshot?.at)];
  const parts: readonly Part[] = [
    ...cgroupFamilies.map((family) => part(family, cgroups)),
    ...(snapshot?.pressure === true ? pressureFamilies : []).map((family) => part(family, cgroups)),
    ...ioFamilies.map((family) => part(family, cgroups)),
    ...[...machineFamilies, ...moduleFamilies].map((family) => part(family, machines)),
    part(version, machines),
    part(containerScrapeError, [{ stamp: lineEnd, failed: snapshot === undefined || options.incomplete === true }]),
    part(machineScrapeError, [{ stamp: lineEnd, failed: facts === undefined }]),
  ];
  for (const { text } of parts.toSorted(byName)) {
    const chunk = text();
    if (chunk.length > 0) yield chunk;
  }
}

/** Without a snapshot there is no time of reading, and a sample without a timestamp is of the moment of the scrape. */
function machineSubject(facts: MachineFacts, at: number | undefined): MachineSubject {
  const labels = (...more: readonly string[]): string =>
    labelText(
      [
        label('boot_id', facts.bootId),
        label('machine_id', facts.machineId),
        ...more,
        label('system_uuid', facts.systemUuid),
      ].join(','),
    );
  return {
    facts,
    stamp: at === undefined ? lineEnd : stampOf(at),
    labels: labels(),
    moduleModes: ['memory_mode', 'app_direct_mode'].map((mode) => labels(label('mode', mode))),
  };
}

/** The root cgroup has no limits of its own; what it can have is what the machine has. */
function withMachineLimits(cgroups: readonly OwnedUsage[], facts: MachineFacts | undefined): readonly OwnedUsage[] {
  if (facts === undefined) return cgroups;
  return cgroups.map((owned) => {
    if (owned.usage.path !== '/') return owned;
    const limits = { ...owned.usage.limits, memory: facts.memoryBytes, memorySwap: facts.swapBytes };
    return { ...owned, usage: { ...owned.usage, limits } };
  });
}
