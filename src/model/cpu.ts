/** The kernel takes no less. */
export const minShares = 2n;
const maxShares = 262_144n;
const sharesPerCpu = 1024n;
/** The kernel refuses shorter time slices. */
const minQuotaUs = 1000n;

/** The period over which the kernel counts a CPU quota unless configured otherwise. */
export const defaultCpuPeriodUs = 100_000n;

/** Relative CPU weight in the unit of cgroup v1. Asking for nothing still gets the least weight there is. */
export function milliCpuToShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * sharesPerCpu) / 1000n;
  if (shares < minShares) return minShares;
  return shares > maxShares ? maxShares : shares;
}

/** CPU time per period in microseconds; 0 means no quota. */
export function milliCpuToQuota(milliCpu: bigint, periodUs: bigint): bigint {
  if (milliCpu === 0n) return 0n;
  const quota = (milliCpu * periodUs) / 1000n;
  return quota < minQuotaUs ? minQuotaUs : quota;
}

/** The same weight in the unit of cgroup v2. */
export function sharesToWeight(shares: bigint): bigint {
  if (shares <= minShares) return 1n;
  return shares >= maxShares ? 10_000n : 1n + ((shares - minShares) * 9999n) / (maxShares - minShares);
}

/** In the unit of cgroup v1 again: the weight is coarse, so the amount of one CPU comes back as a little less. */
export function weightToShares(weight: bigint): bigint {
  return ((weight - 1n) * (maxShares - minShares)) / 9999n + minShares;
}

/** The CPU that shares stand for; rounded up, because the way there rounds down. Fewer than the kernel takes are none. */
export function sharesToMilliCpu(shares: bigint): bigint {
  return shares < minShares ? 0n : (shares * 1000n + sharesPerCpu - 1n) / sharesPerCpu;
}

/** The CPU that a quota allows; 0 without one. */
export function quotaToMilliCpu(quotaUs: bigint, periodUs: bigint): bigint {
  return quotaUs > 0n && periodUs > 0n ? (quotaUs * 1000n) / periodUs : 0n;
}
