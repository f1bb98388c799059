import type { Container, ResourceRequirements } from '../../gen/kubernetes/types.ts';
import { quotaToMilliCpu, sharesToMilliCpu } from '../../model/cpu.ts';
import type { ObservedContainer, ObservedLimits } from '../../model/observed-pod.ts';
import { Quantity } from '../../model/quantity.ts';

/** Below these the kernel rounds up to its own minimum, so its values do not show what was asked. */
const minMilliRequest = 2n;
const minMilliLimit = 10n;

/** The resources of a container's spec, and while it runs the limits in the kernel, where the runtime reports them. */
export function resourcesInForce(
  { resources = {} }: Container,
  { state, held }: Pick<ObservedContainer, 'state' | 'held'>,
): ResourceRequirements {
  const { requests, limits } = resources;
  const reported = state === 'running' ? held : undefined;
  return {
    ...(limits !== undefined && { limits: { ...limits, ...(reported && limitsOf(reported, limits['cpu'])) } }),
    ...(requests !== undefined && {
      requests: { ...requests, ...(reported && requestsOf(reported, requests['cpu'])) },
    }),
  };
}

type Amounts = NonNullable<ResourceRequirements['limits']>;

function limitsOf(
  { cpuQuotaUs, cpuPeriodUs, memoryBytes }: ObservedLimits,
  asked: Amounts[string] | undefined,
): Amounts {
  return {
    ...cpu(quotaToMilliCpu(cpuQuotaUs, cpuPeriodUs), asked, minMilliLimit),
    ...(memoryBytes > 0n && { memory: Quantity.ofValue(memoryBytes, 'binarySI').toString() }),
  };
}

function requestsOf({ cpuShares }: ObservedLimits, asked: Amounts[string] | undefined): Amounts {
  return cpu(sharesToMilliCpu(cpuShares), asked, minMilliRequest);
}

function cpu(milli: bigint, asked: Amounts[string] | undefined, min: bigint): Amounts {
  const wanted = asked === undefined ? 0n : Quantity.parse(asked).milliValue();
  return milli > 0n && (milli > min || wanted > min) ? { cpu: Quantity.ofMilli(milli).toString() } : {};
}
