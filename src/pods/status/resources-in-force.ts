import type { Container, ResourceRequirements } from '../../gen/kubernetes/types.ts';
import { quotaToMilliCpu, sharesToMilliCpu } from '../../model/cpu.ts';
import type { ObservedContainer, ObservedLimits } from '../../model/observed-pod.ts';
import { Quantity } from '../../model/quantity.ts';

/** Below these the kernel rounds up to its own minimum, so its values do not show what was asked. */
const minMilliRequest = 2n;
const minMilliLimit = 10n;

/** Amounts that the runtime says it holds a container to. */
interface ReportedAmounts {
  readonly cpuRequest?: Quantity;
  readonly cpuLimit?: Quantity;
  readonly memoryLimit?: Quantity;
}

/** What says nothing, or that there is no limit, is left out. */
export function reportedAmounts({ cpuShares, cpuQuotaUs, cpuPeriodUs, memoryBytes }: ObservedLimits): ReportedAmounts {
  const request = sharesToMilliCpu(cpuShares);
  const limit = quotaToMilliCpu(cpuQuotaUs, cpuPeriodUs);
  return {
    ...(request > 0n && { cpuRequest: Quantity.ofMilli(request) }),
    ...(limit > 0n && { cpuLimit: Quantity.ofMilli(limit) }),
    ...(memoryBytes > 0n && { memoryLimit: Quantity.ofValue(memoryBytes, 'binarySI') }),
  };
}

/** The resources of a container's spec, and while it runs the limits in the kernel, where the runtime reports them. */
export function resourcesInForce(
  { resources = {} }: Container,
  { state, held }: Pick<ObservedContainer, 'state' | 'held'>,
): ResourceRequirements {
  return state === 'running' && held !== undefined ? inForce(resources, reportedAmounts(held)) : inForce(resources, {});
}

function inForce(
  { requests, limits }: ResourceRequirements,
  { cpuRequest, cpuLimit, memoryLimit }: ReportedAmounts,
): ResourceRequirements {
  return {
    ...(limits !== undefined && {
      limits: {
        ...limits,
        ...cpu(cpuLimit, limits['cpu'], minMilliLimit),
        ...(memoryLimit && { memory: memoryLimit.toString() }),
      },
    }),
    ...(requests !== undefined && { requests: { ...requests, ...cpu(cpuRequest, requests['cpu'], minMilliRequest) } }),
  };
}

type Amounts = NonNullable<ResourceRequirements['limits']>;

function cpu(reported: Quantity | undefined, asked: Amounts[string] | undefined, min: bigint): Amounts {
  if (reported === undefined) return {};
  const wanted = asked === undefined ? 0n : Quantity.parse(asked).milliValue();
  return reported.milliValue() > min || wanted > min ? { cpu: reported.toString() } : {};
}
