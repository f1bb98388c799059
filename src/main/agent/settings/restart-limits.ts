import { defaultBackoffLimits, type BackoffLimits } from '../../../base/backoff.ts';
import type { Settings } from '../../../config/index.ts';

/** The restart back-off of crashed containers, from gates and configuration. */
export function restartLimits({ config, featureGates }: Pick<Settings, 'config' | 'featureGates'>): BackoffLimits {
  const base = featureGates.enabled('ReduceDefaultCrashLoopBackOffDecay')
    ? { initialMs: 1_000, maxMs: 60_000 }
    : defaultBackoffLimits;
  const wanted = config.crashLoopBackOff.maxContainerRestartPeriod?.toMillis();
  if (!featureGates.enabled('KubeletCrashLoopBackOffMax') || wanted === undefined) return base;
  return { initialMs: Math.min(base.initialMs, wanted), maxMs: wanted };
}
