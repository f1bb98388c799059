import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { deriveContainerfs } from '../../../src/eviction/containerfs-thresholds.ts';
import { evaluateRound, initialState, isRelieved, type EvictionState } from '../../../src/eviction/evaluate-round.ts';
import { evictionText } from '../../../src/eviction/eviction-message.ts';
import { exceededLimit, storageLimits } from '../../../src/eviction/local-storage-limits.ts';
import { observationsOf } from '../../../src/eviction/observations.ts';
import { rankPods, type DiskLayout } from '../../../src/eviction/rank-pods.ts';
import { reclaimSteps, resourceOf, type ReclaimStep } from '../../../src/eviction/signals.ts';
import { Duration } from '../../../src/base/duration.ts';
import { desiredPod, type DesiredPod } from '../../../src/model/desired-pod.ts';
import { parseThresholds, type Threshold, type ThresholdConfig } from '../../../src/model/eviction-thresholds.ts';
import { isCriticalPod } from '../../../src/model/qos.ts';
import type { Summary } from '../../../src/model/stats-summary.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';
import { thresholdText, type RecordedThreshold } from './threshold-text.ts';

interface Step {
  readonly at: string;
  readonly summary: Summary;
  /** Missing: all of them. An empty list, which follows one of a single pod, was left out. */
  readonly activePods?: readonly string[];
  readonly summaryAfterContainerGC?: Summary;
  readonly summaryAfterImageGC?: Summary;
  readonly summaryError?: string;
  readonly summaryErrorAfterReclaim?: string;
}

interface Result {
  readonly observed: readonly (RecordedThreshold & { readonly since: string })[];
  readonly thresholdsMet: readonly RecordedThreshold[];
  readonly nodeConditions: readonly string[];
  readonly gc?: readonly string[];
  readonly events?: readonly object[];
  readonly kills?: readonly object[];
  readonly evicted: readonly string[];
}

interface Scenario {
  readonly name: string;
  readonly config: ThresholdConfig & {
    readonly evictionMaxPodGracePeriod: number;
    readonly evictionPressureTransitionPeriod: string;
  };
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly disk: { readonly dedicatedImageFs: boolean; readonly dedicatedContainerFs: boolean };
  readonly pods: readonly Pod[];
  readonly steps: readonly Step[];
  readonly results?: readonly Result[];
  readonly resultsAnyOf?: readonly (readonly Result[])[];
}

/** Scenarios that are not compared, and why. */
const notCompared: Readonly<Record<string, string>> = {
  'message-pod-level-gate-off': 'with the gate off a pod with such resources is not admitted',
  'split-gate-off':
    'with the gate off pods of a split file system are never evicted for its disks; here the gate says nothing',
};

const { scenarios } = loadTable<{ readonly scenarios: readonly Scenario[] }>('eviction/scenarios');

void test('the scenarios that are not compared are those with a gate off', () => {
  const gatesOff = scenarios.filter(({ gates = {} }) => Object.values(gates).includes(false));
  assert.deepEqual(gatesOff.map(({ name }) => name).toSorted(), Object.keys(notCompared));
});

compareRows(
  'scenarios',
  scenarios
    .filter(({ name }) => notCompared[name] === undefined)
    .map((scenario) => {
      const [recorded, ...otherwise] = (scenario.resultsAnyOf ?? [scenario.results ?? []]).map((results) =>
        results.map((one) => asText(one)),
      );
      return { key: scenario.name, recorded, otherwise, ours: () => play(scenario) };
    }),
  differences,
);

/** The rounds of one node, with what is measured and what comes of it as the scenario says. */
function play({ config, gates, disk, pods, steps }: Scenario): readonly unknown[] {
  const layout: DiskLayout = disk.dedicatedContainerFs ? 'split' : disk.dedicatedImageFs ? 'imagefs' : 'single';
  const configured = parseThresholds(config);
  const { thresholds: derived } = deriveContainerfs(configured, layout);
  let thresholds: readonly Threshold[] = configured.filter(({ signal }) => !signal.startsWith('containerfs.'));
  const overwrites = gates?.['AllowOverwriteTerminationGracePeriodSeconds'] === true;
  const all = pods.map((pod) => desiredPod(sourceOf(pod), pod));
  const transitionMs = Duration.parse(config.evictionPressureTransitionPeriod).toMillis();
  let state = initialState;
  let conditions: readonly string[] = [];
  return steps.map((step, index) => {
    const deeds: Deeds = { gc: [], events: [], kills: [], evicted: [] };
    if (step.summaryError === undefined) {
      const now = Duration.parse(step.at).toMillis();
      const observations = observationsOf(step.summary);
      const round = evaluateRound(state, { thresholds, observations, now, transitionMs });
      ({ state, conditions } = round);
      const names = step.activePods ?? (steps[index - 1]?.activePods?.length === 1 ? [] : undefined);
      const active = all.filter(({ name }) => names?.includes(name) ?? true);
      act({ step, starved: round.starved, thresholds, layout, active, observations, config, overwrites }, deeds);
      // Where writable layers are is known after the first round.
      thresholds = derived;
    }
    return { ...seen(state, conditions), ...deeds };
  });
}

interface Deeds {
  gc: readonly ReclaimStep[];
  events: object[];
  kills: object[];
  evicted: string[];
}

interface Acting {
  readonly step: Step;
  readonly starved: readonly Threshold[];
  readonly thresholds: readonly Threshold[];
  readonly layout: DiskLayout;
  readonly active: readonly DesiredPod[];
  readonly observations: ReturnType<typeof observationsOf>;
  readonly config: Scenario['config'];
  readonly overwrites: boolean;
}

function act(
  { step, starved, thresholds, layout, active, observations, config, overwrites }: Acting,
  deeds: Deeds,
): void {
  if (evictOverLimits(active, step.summary, layout, deeds)) return;
  const [first] = starved;
  if (first === undefined) return;
  const resource = resourceOf(first.signal);
  const message = `Attempting to reclaim ${resource}`;
  deeds.events.push({ object: 'node/n1', type: 'Warning', reason: 'EvictionThresholdMet', message });
  deeds.gc = reclaimSteps(first.signal, layout);
  if (deeds.gc.length > 0 && step.summaryErrorAfterReclaim === undefined) {
    let summary = step.summary;
    if (deeds.gc.includes('containerGC')) summary = step.summaryAfterContainerGC ?? summary;
    if (deeds.gc.includes('imageGC')) summary = step.summaryAfterImageGC ?? summary;
    if (isRelieved(thresholds, observationsOf(summary))) return;
  }
  const candidates = active.map((pod) => ({
    pod,
    stats: step.summary.pods.find(({ podRef }) => podRef.uid === pod.uid),
  }));
  const chosen = rankPods(candidates, first.signal, layout).find(({ pod }) => !isCriticalPod(pod));
  if (chosen === undefined) return;
  const own = overwrites ? undefined : chosen.pod.spec.terminationGracePeriodSeconds;
  const longest = config.evictionMaxPodGracePeriod;
  const graceSeconds = first.graceMs === undefined ? 1 : Math.min(longest, own ?? longest);
  evict(chosen.pod, graceSeconds, evictionText(chosen, resource, starved, observations), deeds);
}

/** What the other loop of the room does; it comes first. */
function evictOverLimits(active: readonly DesiredPod[], summary: Summary, layout: DiskLayout, deeds: Deeds): boolean {
  for (const pod of active.filter((one) => !isCriticalPod(one))) {
    const stats = summary.pods.find(({ podRef }) => podRef.uid === pod.uid);
    const limits = storageLimits(pod.spec);
    if (stats === undefined || limits === undefined) continue;
    const layers = layout === 'imagefs' ? 0 : 1;
    const exceeded = exceededLimit(limits, {
      volumes: new Map((stats.volume ?? []).map(({ name, usedBytes = 0 }) => [name, usedBytes] as const)),
      containers: new Map(
        stats.containers
          .filter(({ name }) => pod.spec.containers.some((one) => one.name === name))
          .map(({ name, logs, rootfs }) => [name, (logs?.usedBytes ?? 0) + layers * (rootfs?.usedBytes ?? 0)] as const),
      ),
      ...(stats['ephemeral-storage']?.usedBytes !== undefined && { ephemeral: stats['ephemeral-storage'].usedBytes }),
    });
    if (exceeded === undefined) continue;
    const { message } = exceeded;
    deeds.events.push({ object: `pod/${pod.name}`, type: 'Warning', reason: 'Evicted', message });
    const status = { phase: 'Failed', reason: 'Evicted', message };
    deeds.kills.push({ pod: pod.name, isEvicted: true, gracePeriodOverride: 1, status });
    deeds.evicted.push(pod.name);
  }
  return deeds.evicted.length > 0;
}

function evict(
  pod: DesiredPod,
  graceSeconds: number,
  { message, annotations }: ReturnType<typeof evictionText>,
  deeds: Deeds,
): void {
  deeds.events.push({
    object: `pod/${pod.name}`,
    type: 'Warning',
    reason: 'Evicted',
    message,
    ...(Object.keys(annotations).length > 0 && { annotations }),
  });
  const { generation } = pod.metadata;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  const status = { phase: 'Failed', reason: 'Evicted', message, conditions: [condition] };
  deeds.kills.push({ pod: pod.name, isEvicted: true, gracePeriodOverride: graceSeconds, status });
  deeds.evicted.push(pod.name);
}

function seen({ metSince, due }: EvictionState, conditions: readonly string[]): object {
  return {
    observed: [...metSince].map(([one, since]) => `${thresholdText(one)} since ${since}`).toSorted(),
    thresholdsMet: due.map((one) => thresholdText(one)).toSorted(),
    nodeConditions: conditions.toSorted(),
  };
}

function asText({ observed, thresholdsMet, nodeConditions, gc, events, kills, evicted }: Result): object {
  return {
    observed: observed
      .map(({ since, ...one }) => `${thresholdText(one)} since ${Duration.parse(since).toMillis()}`)
      .toSorted(),
    thresholdsMet: thresholdsMet.map((one) => thresholdText(one)).toSorted(),
    nodeConditions,
    gc: gc ?? [],
    events: events ?? [],
    kills: kills ?? [],
    evicted,
  };
}

/** A mirror of a static pod counts as that. */
function sourceOf({ metadata }: Pod): 'api' | 'file' {
  const annotations = metadata?.annotations ?? {};
  const source = annotations['kubernetes.io/config.source'] ?? 'api';
  return source === 'api' && annotations['kubernetes.io/config.mirror'] === undefined ? 'api' : 'file';
}
