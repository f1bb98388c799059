import type { EvictionSignal } from '../model/eviction-thresholds.ts';
import type { DiskLayout } from './rank-pods.ts';

export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';
export type ReclaimStep = 'containerGC' | 'imageGC';
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

export function conditionOf(signal: EvictionSignal): PressureCondition {
  if (signal === 'pid.available') return 'PIDPressure';
  return ofMemory(signal) ? 'MemoryPressure' : 'DiskPressure';
}

/** The word for it in events and messages. */
export function resourceOf(signal: EvictionSignal): StarvedResource {
  if (signal === 'pid.available') return 'pids';
  if (ofMemory(signal)) return 'memory';
  return signal.endsWith('.available') ? 'ephemeral-storage' : 'inodes';
}

/** What of the node itself is given up before pods are: dead containers, and unused images. */
export function reclaimSteps(signal: EvictionSignal, layout: DiskLayout): readonly ReclaimStep[] {
  if (signal === 'pid.available' || ofMemory(signal)) return [];
  const ofImages = signal.startsWith('imagefs.');
  if (layout === 'single') return ['containerGC', 'imageGC'];
  if (layout === 'split') return ofImages ? ['imageGC'] : ['containerGC'];
  return signal.startsWith('nodefs.') ? [] : ['containerGC', 'imageGC'];
}

export function ofMemory(signal: EvictionSignal): boolean {
  return signal === 'memory.available' || signal === 'allocatableMemory.available';
}
