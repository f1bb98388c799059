import { Duration } from '../base/duration.ts';
import { TubeletError } from '../base/errors.ts';
import { parseShare, percentOf, type CapacityShare } from './capacity-share.ts';

/** What the agent watches of its node; each is an amount that is left. */
export const evictionSignals = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

export type EvictionSignal = (typeof evictionSignals)[number];

/** Below this the node is short of something. */
export interface Threshold {
  readonly signal: EvictionSignal;
  readonly value: CapacityShare;
  /** How long it must be met until pods are evicted; absent for a hard one. */
  readonly graceMs?: number;
  /** How much more than the value must be free until it counts as not met again. */
  readonly minReclaim?: CapacityShare;
}

type Texts = Readonly<Record<string, string>>;

/** Fields of the configuration. */
export interface ThresholdConfig {
  readonly evictionHard?: Texts;
  readonly evictionSoft?: Texts;
  readonly evictionSoftGracePeriod?: Texts;
  readonly evictionMinimumReclaim?: Texts;
  readonly enforceNodeAllocatable?: readonly string[];
}

/** Throws the first thing that is wrong. What the cgroup of all pods may use has the threshold of the node's memory. */
export function parseThresholds(config: ThresholdConfig): readonly Threshold[] {
  const { evictionHard = {}, evictionSoft = {}, evictionSoftGracePeriod = {}, evictionMinimumReclaim = {} } = config;
  const hard = parseAll(evictionHard, parseThresholdValue);
  const soft = parseAll(evictionSoft, parseThresholdValue);
  const graces = parseAll(evictionSoftGracePeriod, (_, text) => parseGrace(text));
  const reclaims = parseAll(evictionMinimumReclaim, parseMinimumReclaim);
  const thresholds = [
    ...[...hard].map(([signal, value]) => ({ signal, value })),
    ...[...soft].map(([signal, value]) => ({ signal, value, ...soften(graces.get(signal), signal) })),
  ].map((one) => {
    const minReclaim = reclaims.get(one.signal);
    return minReclaim === undefined ? one : { ...one, minReclaim };
  });
  if (config.enforceNodeAllocatable?.includes('pods') !== true) return thresholds;
  const ofPods = thresholds.filter(({ signal, ...one }) => signal === 'memory.available' && !('graceMs' in one));
  return [...thresholds, ...ofPods.map((one) => ({ ...one, signal: 'allocatableMemory.available' as const }))];
}

export function isEvictionSignal(text: string): text is EvictionSignal {
  return (evictionSignals as readonly string[]).includes(text);
}

/** Undefined for the two values that switch a signal off. */
export function parseThresholdValue(signal: string, text: string): CapacityShare | undefined {
  if (text === '0%' || text === '100%') return undefined;
  const percent = percentOf(text);
  if (percent !== undefined && percent < 0) {
    throw invalid(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
  }
  if (percent !== undefined && percent > 100) {
    throw invalid(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
  }
  const value = parseShare(text);
  if ('quantity' in value && value.quantity.sign() <= 0) {
    throw invalid(`eviction threshold ${signal} must be positive: ${value.quantity.toString()}`);
  }
  return value;
}

/** In milliseconds. */
export function parseGrace(text: string): number {
  const grace = Duration.parse(text);
  if (grace.nanos >= 0n) return grace.toMillis();
  throw invalid(`invalid eviction grace period specified: ${text}, must be a positive value`);
}

export function parseMinimumReclaim(signal: string, text: string): CapacityShare {
  const percent = percentOf(text);
  if (percent !== undefined && percent <= 0) {
    throw invalid(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
  }
  const value = parseShare(text);
  if ('quantity' in value && value.quantity.sign() < 0) {
    throw invalid(`negative eviction minimum reclaim specified for ${signal}`);
  }
  return value;
}

function parseAll<T>(
  texts: Texts,
  parse: (signal: EvictionSignal, text: string) => T | undefined,
): ReadonlyMap<EvictionSignal, T> {
  const parsed = new Map<EvictionSignal, T>();
  for (const [signal, text] of Object.entries(texts)) {
    if (!isEvictionSignal(signal)) throw invalid(`unsupported eviction signal ${signal}`);
    const value = parse(signal, text);
    if (value !== undefined) parsed.set(signal, value);
  }
  return parsed;
}

/** No grace at all makes a threshold as hard as one of the others. */
function soften(graceMs: number | undefined, signal: EvictionSignal): { readonly graceMs?: number } {
  if (graceMs === undefined) {
    throw invalid(`grace period must be specified for the soft eviction threshold ${signal}`);
  }
  return graceMs === 0 ? {} : { graceMs };
}

const invalid = (message: string): TubeletError => new TubeletError('invalid', message);
