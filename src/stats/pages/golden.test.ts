import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseMetrics, shapeOf, shapeRows } from '../../testing/parse-metrics.ts';
import { someMachine, usageSnapshot } from '../../testing/usage-snapshots.ts';
import {
  absentFromCadvisorPage,
  absentFromResourcePage,
  absentWhereNotCounted,
  cadvisorPage,
  resourcePage,
} from './index.ts';

/** The recorded node had no container with a limit of processor time; with one, upstream has these too. */
const onlyWithQuota = [
  'container_cpu_cfs_periods_total | counter | container,id,image,name,namespace,pod',
  'container_cpu_cfs_throttled_periods_total | counter | container,id,image,name,namespace,pod',
  'container_cpu_cfs_throttled_seconds_total | counter | container,id,image,name,namespace,pod',
  'container_spec_cpu_quota | gauge | container,id,image,name,namespace,pod',
];

const nameOf = (row: string): string => row.split(' ')[0] ?? '';
const plan = { pods: 2, containersPerPod: 2 };

function shapes(page: string): readonly string[] {
  return shapeOf(parseMetrics(page));
}

/** Every row of the record is on the page or in the table, no row of the table is on the page, and nothing else is there. */
function compare(
  page: string,
  record: string,
  absent: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): void {
  const recorded = shapeRows(readFileSync(`test/golden/node/${record}`, 'utf8'));
  const missing = Object.keys(absent).filter((name) => !recorded.some((row) => nameOf(row) === name));
  assert.deepEqual(missing, [], 'absent, but the record does not have it');
  const wanted = recorded.filter((row) => !(nameOf(row) in absent));
  assert.deepEqual(shapes(page), [...wanted, ...more].sort());
}

describe('/metrics/cadvisor against the record', () => {
  it('has what the record has, with types and labels, where the kernel counts everything', () => {
    const page = [...cadvisorPage(usageSnapshot({ version: 2, ...plan }), someMachine)].join('');
    compare(page, 'metrics-cadvisor.txt', absentFromCadvisorPage, onlyWithQuota);
  });

  it('has the same where the kernel does not count pressure, as it was when the record was made', () => {
    const page = [...cadvisorPage(usageSnapshot({ version: 1, ...plan }), someMachine)].join('');
    compare(page, 'metrics-cadvisor.txt', absentFromCadvisorPage, onlyWithQuota);
  });

  it('has no pressure without the gate', () => {
    const snapshot = usageSnapshot({ version: 2, ...plan });
    const whole = [...cadvisorPage(snapshot, someMachine)].join('');
    const page = [...cadvisorPage({ ...snapshot, pressure: false }, someMachine)].join('');
    assert.deepEqual(
      shapes(page),
      shapes(whole).filter((row) => !row.startsWith('container_pressure_')),
    );
    assert.equal(shapes(whole).length - shapes(page).length, 6);
  });

  it('says why of everything that is absent', () => {
    for (const table of [absentFromCadvisorPage, absentWhereNotCounted]) {
      for (const reason of Object.values(table)) assert.ok(reason.length > 20);
    }
  });

  it('has what depends on the kernel, where it counts it', () => {
    const page = [...cadvisorPage(usageSnapshot({ version: 2, ...plan }), someMachine)].join('');
    const names = shapes(page).map(nameOf);
    assert.deepEqual(
      Object.keys(absentWhereNotCounted).filter((name) => !names.includes(name)),
      [],
    );
  });
});

describe('/metrics/resource against the record', () => {
  for (const version of [1, 2] as const) {
    it(`has what the record has, cgroups of version ${version}`, () => {
      compare(resourcePage(usageSnapshot({ version, ...plan })), 'metrics-resource.txt', absentFromResourcePage);
    });
  }
});
