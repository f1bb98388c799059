import {
  absentFromCadvisorPage,
  absentFromResourcePage,
  absentWhereNotCounted,
} from '../../../../src/stats/pages/index.ts';
import { reasonForAbsence } from '../../../../src/telemetry/index.ts';
import { recordRows } from './compare.ts';

/** What is known beforehand of a page of a running agent. */
interface PageRecord {
  /** The same page of a Go kubelet. */
  readonly record: string;
  /** Some table says why this row of the record is not on our page. */
  readonly isAbsent: (row: string) => boolean;
  /** A row that the record does not have, and may be on the page. */
  readonly isKnown: (row: string) => boolean;
  /** What promtool says about names that upstream has chosen, and that readers know. */
  readonly complaints: readonly string[];
}

const nameOf = (row: string): string => row.split(' ')[0] ?? '';
const oneOf =
  (rows: readonly string[]) =>
  (row: string): boolean =>
    rows.includes(row);
const inTables =
  (...tables: readonly Readonly<Record<string, string>>[]) =>
  (row: string): boolean =>
    tables.some((table) => nameOf(row) in table);

const documented = new Set(recordRows('metrics-documented.txt').map(nameOf));
const cgroup = 'container,id,image,name,namespace,pod';
const probed = 'container,namespace,pod';

export const pageRecords: Readonly<Record<string, PageRecord>> = {
  '/metrics': {
    record: 'metrics.txt',
    isAbsent: (row) => reasonForAbsence(nameOf(row)) !== undefined,
    // What the record's node had no occasion to tell, or what is our own.
    isKnown: (row) => documented.has(nameOf(row)) || row.startsWith('tubelet_'),
    complaints: [
      'authentication_token_cache_active_fetch_count non-histogram and non-summary metrics should not have "_count" suffix',
      'kubelet_evented_pleg_connection_error_count counter metrics should have "_total" suffix',
      'kubelet_evented_pleg_connection_error_count non-histogram and non-summary metrics should not have "_count" suffix',
      'kubelet_evented_pleg_connection_success_count counter metrics should have "_total" suffix',
      'kubelet_evented_pleg_connection_success_count non-histogram and non-summary metrics should not have "_count" suffix',
      'kubelet_pleg_discard_events counter metrics should have "_total" suffix',
    ],
  },
  '/metrics/cadvisor': {
    record: 'metrics-cadvisor.txt',
    isAbsent: inTables(absentFromCadvisorPage, absentWhereNotCounted),
    // No container of the record had a limit of processor time.
    isKnown: oneOf([
      `container_cpu_cfs_periods_total | counter | ${cgroup}`,
      `container_cpu_cfs_throttled_periods_total | counter | ${cgroup}`,
      `container_cpu_cfs_throttled_seconds_total | counter | ${cgroup}`,
      `container_spec_cpu_quota | gauge | ${cgroup}`,
    ]),
    complaints: [
      `cadvisor_version_info label names should be written in 'snake_case' not 'camelCase'`,
      'container_cpu_load_d_average_10s metric names should not contain abbreviated units',
      'container_fs_inodes_total non-counter metrics should not have "_total" suffix',
      'container_memory_failcnt counter metrics should have "_total" suffix',
    ],
  },
  '/metrics/resource': {
    record: 'metrics-resource.txt',
    isAbsent: inTables(absentFromResourcePage),
    isKnown: oneOf([]),
    complaints: [],
  },
  '/metrics/probes': {
    record: 'metrics-probes.txt',
    isAbsent: () => false,
    isKnown: oneOf([
      `prober_probe_duration_seconds | histogram | ${probed},probe_type`,
      `prober_probe_total | counter | ${probed},pod_uid,probe_type,result`,
    ]),
    complaints: [],
  },
  '/metrics/slis': {
    record: 'metrics-slis.txt',
    isAbsent: () => false,
    isKnown: oneOf([
      'kubernetes_healthcheck | gauge | name,type',
      'kubernetes_healthchecks_total | counter | name,status,type',
    ]),
    complaints: [],
  },
};
