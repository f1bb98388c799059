import { reportedAmounts } from '../../../src/pods/status/resources-in-force.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';

interface CriRow {
  readonly linux: Readonly<
    Partial<Record<'cpu_shares' | 'cpu_quota' | 'cpu_period' | 'memory_limit_in_bytes', number>>
  > | null;
  readonly out: Readonly<Record<string, string>> | null;
}

compareRows(
  'cri-resources',
  loadTable<{ readonly cases: readonly CriRow[] }>('resize/cri-resources').cases.map(({ linux, out }, index) => ({
    key: `${index} ${JSON.stringify(linux)}`,
    recorded: out ?? {},
    ours: () => {
      const amounts = reportedAmounts({
        cpuShares: BigInt(linux?.cpu_shares ?? 0),
        cpuQuotaUs: BigInt(linux?.cpu_quota ?? 0),
        cpuPeriodUs: BigInt(linux?.cpu_period ?? 0),
        memoryBytes: BigInt(linux?.memory_limit_in_bytes ?? 0),
      });
      return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
    },
  })),
  differences,
);
