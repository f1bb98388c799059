import type { CgroupOwner, UsageSnapshot } from '../../model/usage.ts';
import type { ScrapeOptions } from './cadvisor-page.ts';
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
import { resourceValues, type ResourceValues, type OwnedResourceValues } from './resource-values.ts';

interface ResourceSubject extends Subject {
  readonly labels: string;
  readonly values: ResourceValues;
}

type ResourceFamily = Family<ResourceSubject>;
type Reader = (values: ResourceValues) => number | undefined;

const timed = (name: string, type: ResourceFamily['type'], help: string, read: Reader): ResourceFamily => ({
  name,
  type,
  help,
  timed: true,
  each: ({ labels, values }, put) => put(labels, read(values)),
});
const cpuOf = (whose: string): ResourceFamily =>
  timed(
    `${whose}_cpu_usage_seconds_total`,
    'counter',
    `[STABLE] Processor time that the ${whose} used, of all processors.`,
    ({ cpuNs }) => (cpuNs === undefined ? undefined : cpuNs / 1e9),
  );
const memoryOf = (whose: string): ResourceFamily =>
  timed(
    `${whose}_memory_working_set_bytes`,
    'gauge',
    `[STABLE] Memory that the ${whose} uses, without inactive page cache.`,
    ({ workingSet }) => workingSet,
  );
const swapOf = (whose: string): ResourceFamily =>
  timed(`${whose}_swap_usage_bytes`, 'gauge', `[ALPHA] Swap that the ${whose} uses.`, ({ swap }) => swap);

const started: ResourceFamily = {
  name: 'container_start_time_seconds',
  type: 'gauge',
  help: '[STABLE] When the container began, in seconds since the epoch.',
  timed: false,
  each: ({ labels, values: { startedAt } }, put) =>
    put(labels, startedAt === undefined || startedAt <= 0 ? undefined : startedAt / 1_000),
};

const swapLimit = timed(
  'container_swap_limit_bytes',
  'gauge',
  '[ALPHA] Swap that the container may use.',
  (of) => of.swapLimit,
);

const of = (whose: string): readonly ResourceFamily[] => [cpuOf(whose), memoryOf(whose), swapOf(whose)];
const containerFamilies = [...of('container'), swapLimit, started].sort(byName);
const nodeFamilies = of('node');
const podFamilies = of('pod');

const scrapeError: Family<Subject & { readonly failed: boolean }> = {
  name: 'resource_scrape_error',
  type: 'gauge',
  help: '[STABLE] 1 if values could not be read, else 0.',
  timed: false,
  each: ({ failed }, put) => put(noLabels, failed ? 1 : 0),
};

/** The page /metrics/resource, which metrics-server reads. A snapshot that could not be had is undefined. */
export function resourcePage(snapshot: UsageSnapshot | undefined, options: ScrapeOptions = {}): string {
  const { node, pods, containers } = resourceValues(snapshot ?? { cgroups: [] });
  const nodes = node === undefined ? [] : [{ labels: noLabels, values: node, stamp: stampOf(node.at) }];
  const podSubjects = subjects(pods, podLabels);
  const containerSubjects = subjects(
    containers,
    (owner) => `${label('container', owner.container)},${podLabels(owner)}`,
  );
  return [
    ...containerFamilies.map((family) => familyText(family, containerSubjects)),
    ...nodeFamilies.map((family) => familyText(family, nodes)),
    ...podFamilies.map((family) => familyText(family, podSubjects)),
    familyText(scrapeError, [{ stamp: lineEnd, failed: snapshot === undefined || options.incomplete === true }]),
  ].join('');
}

const podLabels = ({ namespace, pod }: CgroupOwner): string => `${label('namespace', namespace)},${label('pod', pod)}`;

/** Sorted by their labels. */
function subjects(
  all: readonly OwnedResourceValues[],
  labels: (owner: CgroupOwner) => string,
): readonly ResourceSubject[] {
  return all
    .map((values) => ({ values, text: labels(values.owner) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ values, text }) => ({ values, labels: labelText(text), stamp: stampOf(values.at) }));
}
