import type { Clock } from '../base/clock.ts';
import type { ContainerId } from '../base/ids.ts';
import type { Cri } from '../cri/index.ts';
import { runtimeMetrics } from '../pods/runtime/runtime-metrics.ts';
import { Registry } from '../telemetry/registry.ts';

/** What stopping containers needs for their hooks: commands go to the runtime, requests go nowhere. */
export function hooksOn(clock: Clock, cri: Pick<Cri, 'execSync'>) {
  const send = async (): Promise<never> => {
    throw new Error('nobody answers here');
  };
  return {
    clock,
    hooks: { clock, runtime: cri, requests: { send } },
    preStopped: new Set<ContainerId>(),
    started: runtimeMetrics(new Registry()),
  };
}
