import type { Container, ResourceRequirements } from '../../gen/kubernetes/types.ts';
import type { ObservedContainer, ObservedLimits } from '../../model/observed-pod.ts';
import { Quantity } from '../../model/quantity.ts';

/** Below these the kernel rounds up to its own least values, and tells nothing about what was asked. */
const leastMilliRequest = 2n;
const leastMilliLimit = 10n;

/** What a container was promised, and while it runs what the kernel holds it to, where the runtime tells. */
export function resourcesInForce(
  { resources = {} }: Container,
  { state, held }: Pick<ObservedContainer, 'state' | 'held'>,
): ResourceRequirements {
  const { requests, limits } = resources;
  const told = state === 'running' ? held : undefined;
  return {
    ...(limits !== undefined && { limits: { ...limits, ...(told && limitsOf(told, limits['cpu'])) } }),
    ...(requests !== undefined && { requests: { ...requests, ...(told && requestsOf(told, requests['cpu'])) } }),
  };
}

type Amounts = NonNullable<ResourceRequirements['limits']>;

function limitsOf(
  { cpuQuotaUs, cpuPeriodUs, memoryBytes }: ObservedLimits,
  asked: Amounts[string] | undefined,
): Amounts {
  const milli = cpuPeriodUs > 0n && cpuQuotaUs > 0n ? (cpuQuotaUs * 1000n) / cpuPeriodUs : 0n;
  return {
    ...cpu(milli, asked, leastMilliLimit),
    ...(memoryBytes > 0n && { memory: Quantity.ofValue(memoryBytes, 'binarySI').toString() }),
  };
}

function requestsOf({ cpuShares }: ObservedLimits, asked: Amounts[string] | undefined): Amounts {
  // Rounded up: shares are the smaller numbers, and the way there rounded down.
  return cpu(cpuShares > 0n ? (cpuShares * 1000n + 1023n) / 1024n : 0n, asked, leastMilliRequest);
}

function cpu(milli: bigint, asked: Amounts[string] | undefined, least: bigint): Amounts {
  const wanted = asked === undefined ? 0n : Quantity.parse(asked).milliValue();
  return milli > 0n && (milli > least || wanted > least) ? { cpu: Quantity.ofMilli(milli).toString() } : {};
}
