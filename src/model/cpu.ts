const minShares = 2n;
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
