import type { ClaimUsage } from './ports.ts';
import type { MeasuredVolume } from './volume-usages.ts';

/** What is in the volumes that claims stand for. Several pods may use one claim: it is reported once, as measured last. */
export function claimUsages(volumes: readonly MeasuredVolume[]): readonly ClaimUsage[] {
  const latest = new Map<string, MeasuredVolume>();
  for (const measured of volumes) {
    const { pvc } = measured.volume;
    if (pvc === undefined) continue;
    const key = `${pvc.namespace}/${pvc.name}`;
    const other = latest.get(key);
    if (other === undefined || other.usage.at < measured.usage.at) latest.set(key, measured);
  }
  return [...latest.values()].flatMap((measured) => claimUsage(measured) ?? []);
}

function claimUsage({ volume: { pvc }, usage }: MeasuredVolume): ClaimUsage | undefined {
  if (pvc === undefined) return undefined;
  const { capacity, available, used, inodes, inodesFree, inodesUsed, isAbnormal } = usage;
  return {
    namespace: pvc.namespace,
    claim: pvc.name,
    ...(capacity !== undefined && { capacityBytes: capacity }),
    ...(available !== undefined && { availableBytes: available }),
    ...(used !== undefined && { usedBytes: used }),
    ...(inodes !== undefined && { inodes }),
    ...(inodesFree !== undefined && { inodesFree }),
    ...(inodesUsed !== undefined && { inodesUsed }),
    ...(isAbnormal !== undefined && { isAbnormal }),
  };
}
