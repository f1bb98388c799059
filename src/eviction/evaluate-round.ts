import { amountOf } from '../model/capacity-share.ts';
import type { EvictionSignal, Threshold } from '../model/eviction-thresholds.ts';
import { Quantity } from '../model/quantity.ts';
import type { Observations } from './observations.ts';
import { conditionOf, ofMemory, type PressureCondition } from './signals.ts';

/** What one round leaves to the next. */
export interface EvictionState {
  /** Since when a threshold is met without a pause, in milliseconds. */
  readonly metSince: ReadonlyMap<Threshold, number>;
  /** Met for at least their grace period. */
  readonly due: readonly Threshold[];
  /** When each condition last held. */
  readonly conditionsAt: ReadonlyMap<PressureCondition, number>;
  readonly observations: Observations;
}

export const initialState: EvictionState = {
  metSince: new Map(),
  due: [],
  conditionsAt: new Map(),
  observations: new Map(),
};

interface RoundInput {
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
  readonly now: number;
  /** evictionPressureTransitionPeriod */
  readonly transitionMs: number;
}

interface Round {
  readonly state: EvictionState;
  /** As the node reports them: for a while after the last time they held. */
  readonly conditions: readonly PressureCondition[];
  /** What pods may be evicted for now, the most urgent first; measured since the last round. */
  readonly starved: readonly Threshold[];
}

/**
 * One observation of what is left.
 *
 *   below ──> met ──grace over──> due ──> starved, if measured anew
 *                                  └──> met until its minimum is reclaimed, too
 */
export function evaluateRound(before: EvictionState, input: RoundInput): Round {
  const { thresholds, observations, now, transitionMs } = input;
  const held = new Set(before.due.filter((one) => isMet(one, observations, 'reclaimed')));
  const met = thresholds.filter((one) => held.has(one) || isMet(one, observations));
  const metSince = new Map(met.map((one) => [one, before.metSince.get(one) ?? now] as const));
  const due = met.filter((one) => now - (metSince.get(one) ?? now) >= (one.graceMs ?? 0));
  const conditionsAt = new Map(before.conditionsAt);
  for (const { signal } of met) conditionsAt.set(conditionOf(signal), now);
  const conditions = [...conditionsAt].filter(([, at]) => now - at < transitionMs).map(([condition]) => condition);
  const starved = due.filter(({ signal }) => isNew(signal, observations, before.observations)).toSorted(byUrgency);
  return { state: { metSince, due, conditionsAt, observations }, conditions, starved };
}

/** Whether nothing is short any more, when the node has given up what it could: soft thresholds count without grace. */
export function isRelieved(thresholds: readonly Threshold[], observations: Observations): boolean {
  return !thresholds.some((one) => isMet(one, observations, 'reclaimed'));
}

export function thresholdQuantity({ value }: Threshold, capacity: Quantity): Quantity {
  return amountOf(value, capacity);
}

/** Equal is enough. To count as reclaimed the minimum must be free in addition. */
function isMet(threshold: Threshold, observations: Observations, until: 'enough' | 'reclaimed' = 'enough'): boolean {
  const observed = observations.get(threshold.signal);
  if (observed === undefined) return false;
  const { available, capacity } = observed;
  const { minReclaim } = threshold;
  const wanted = thresholdQuantity(threshold, capacity);
  const extra = until === 'reclaimed' && minReclaim !== undefined ? amountOf(minReclaim, capacity) : Quantity.zero;
  return wanted.add(extra).compare(available) > 0;
}

/** Pods are not evicted for figures that they were evicted for before. */
function isNew(signal: EvictionSignal, observations: Observations, before: Observations): boolean {
  const last = before.get(signal);
  const time = observations.get(signal)?.time;
  return last === undefined || time === undefined || last.time === undefined || time > last.time;
}

/** Memory first: the kernel kills when it is gone. Then as configured, where hard ones come first. */
function byUrgency(a: Threshold, b: Threshold): number {
  return Number(ofMemory(b.signal)) - Number(ofMemory(a.signal));
}
