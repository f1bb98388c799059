import {
  milliCpuToQuota,
  milliCpuToShares,
  quotaToMilliCpu,
  sharesToMilliCpu,
  sharesToWeight,
  weightToShares,
} from '../../../src/model/cpu.ts';
import { sandboxResources } from '../../../src/model/linux-resources.ts';
import { goldenSettings } from '../../../src/testing/golden.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';

type Rows = readonly (readonly number[])[];

interface Cpu {
  readonly milliToSharesAndWeight: Rows;
  readonly periods: readonly number[];
  readonly milliToQuotaPerPeriod: Rows;
  readonly milliToQuotaPerPeriodWithoutCustomPeriodGate: Rows;
  readonly sharesToWeight: Rows;
  readonly weightToShares: Rows;
}

interface ReadBack {
  readonly sharesToMilliCpu: Rows;
  readonly quotaPeriodToMilliCpu: Rows;
}

const cpu = loadTable<Cpu>('cgroups/cpu');
const readBack = loadTable<ReadBack>('cgroups/swap-and-back');

/** The first numbers of a row are what is given, the others what came out. */
function compare(
  table: string,
  rows: Rows,
  given: number,
  ours: (...given: readonly bigint[]) => readonly bigint[],
): void {
  compareRows(
    table,
    rows.map((row) => ({
      key: row.slice(0, given).join(' '),
      recorded: row.slice(given),
      ours: () => ours(...row.slice(0, given).map(BigInt)),
    })),
    differences,
  );
}

compare('milliToSharesAndWeight', cpu.milliToSharesAndWeight, 1, (milli = 0n) => {
  const shares = milliCpuToShares(milli);
  return [shares, sharesToWeight(shares)];
});

compare('milliToQuotaPerPeriod', cpu.milliToQuotaPerPeriod, 1, (milli = 0n) =>
  cpu.periods.map((period) => milliCpuToQuota(milli, BigInt(period))),
);

compare('without the gate', cpu.milliToQuotaPerPeriodWithoutCustomPeriodGate, 1, (milli = 0n) => {
  const spec = { containers: [{ name: 'c', resources: { limits: { cpu: `${milli}m` } } }] };
  return cpu.periods.map((period) => {
    const settings = { ...goldenSettings, cpuCfsQuotaPeriodMs: period / 1000, featureGates: () => false };
    return sandboxResources(spec, settings).cpuQuota;
  });
});

compare('sharesToWeight', cpu.sharesToWeight, 1, (shares = 0n) => [sharesToWeight(shares)]);
compare('weightToShares', cpu.weightToShares, 1, (weight = 0n) => [weightToShares(weight)]);
compare('sharesToMilliCpu', readBack.sharesToMilliCpu, 1, (shares = 0n) => [sharesToMilliCpu(shares)]);
compare('quotaPeriodToMilliCpu', readBack.quotaPeriodToMilliCpu, 2, (quota = 0n, period = 0n) => [
  quotaToMilliCpu(quota, period),
]);
