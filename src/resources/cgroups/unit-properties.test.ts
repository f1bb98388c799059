import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CgroupValues, CgroupVersion } from '../../model/cgroup-values.ts';
import type { UnitProperty } from '../../model/systemd-units.ts';
import { goldenSystemd, type GoldenProperty } from '../../testing/golden-cgroups.ts';
import { unitProperties } from './unit-properties.ts';

type Golden = ReturnType<typeof goldenSystemd>['properties'][number];

/** Properties that a Go kubelet would send and this agent does not, by row. */
const differences: Readonly<Record<string, { readonly without: string; readonly reason: string }>> = {
  'cpuset and mems': {
    without: 'AllowedMemoryNodes',
    reason: 'no group of pods is ever given memory nodes: the runtime gives them to containers',
  },
};

const big = (value: number | undefined): bigint | undefined => (value === undefined ? undefined : BigInt(value));

function valuesOf({ resources }: Golden): CgroupValues {
  const { cpuShares, cpuQuota, cpuPeriod, memory, pids, cpus, hugetlb, unified } = resources;
  const values = {
    cpuShares: big(cpuShares),
    cpuQuotaUs: big(cpuQuota),
    cpuPeriodUs: big(cpuPeriod),
    memoryBytes: big(memory),
    pids: big(pids),
    cpus,
    hugePages: hugetlb && new Map(Object.entries(hugetlb).map(([size, bytes]) => [size, BigInt(bytes)] as const)),
    unified,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function asGolden({ name, value }: UnitProperty): GoldenProperty {
  const { type } = value;
  return [name, type, type === 'ay' ? Buffer.from(value.value).toString('hex') : String(value.value)];
}

/** Those of a unified map were recorded in the order of their names, because a Go map has none. */
const ordered = (properties: readonly GoldenProperty[], { resources }: Golden): readonly GoldenProperty[] =>
  resources.unified === undefined ? properties : properties.toSorted(([a], [b]) => (a < b ? -1 : 1));

describe('properties of units, as recorded', () => {
  for (const row of goldenSystemd().properties) {
    test(`${row.name}, systemd ${row.systemdVersions.join(' ')}`, () => {
      const { v1, v2, v1Error, v2Error } = row.properties;
      const results = [
        { version: 1, expected: v1, error: v1Error },
        { version: 2, expected: v2, error: v2Error },
      ] as const;
      for (const number of row.systemdVersions) {
        const systemd = number < 0 ? undefined : number;
        for (const { version, expected, error } of results) assertRow(row, { version, systemd }, expected, error);
      }
    });
  }

  test('each difference is one', () => {
    const rows = goldenSystemd().properties;
    for (const [name, { without }] of Object.entries(differences)) {
      assert.ok(rows.some((row) => row.name === name && row.properties.v2?.some(([other]) => other === without)));
    }
  });
});

function assertRow(
  row: Golden,
  format: { readonly version: CgroupVersion; readonly systemd: number | undefined },
  expected: readonly GoldenProperty[] | undefined,
  error: string | undefined,
): void {
  if (error !== undefined) {
    assert.throws(() => unitProperties(valuesOf(row), format), { message: error });
    return;
  }
  if (expected === undefined) return;
  const ours = ordered(unitProperties(valuesOf(row), format).map(asGolden), row);
  const { without } = differences[row.name] ?? {};
  assert.deepEqual(
    ours,
    expected.filter(([name]) => name !== without),
  );
}

test('a unified map has no place in version 1', () => {
  assert.deepEqual(unitProperties({ unified: { 'memory.min': '1' } }, { version: 1, systemd: 252 }), []);
});

test('what is no number is refused', () => {
  const bad = (key: string, value: string): void => {
    assert.throws(() => unitProperties({ unified: { [key]: value } }, { version: 2, systemd: 252 }), {
      kind: 'invalid',
    });
  };
  bad('memory.min', '1Mi');
  bad('cpu.max', 'much');
  bad('cpuset.cpus', 'x');
});
