const scheduler = 'the kernel tells no load of a cgroup; upstream always writes 0, because its reader is switched off';
const diskstats =
  'no file of version 2 tells it of a cgroup; upstream takes it from /proc/diskstats for the root, which node exporters tell better';
const modules = 'nobody reads persistent memory modules here; upstream writes 0 where there are none';

/** Metrics of upstream's /metrics/cadvisor that are not on ours, and why. */
export const absentFromCadvisorPage: Readonly<Record<string, string>> = {
  container_cpu_load_average_10s: scheduler,
  container_cpu_load_d_average_10s: scheduler,
  container_tasks_state: scheduler,
  container_fs_io_current: diskstats,
  container_fs_io_time_seconds_total: diskstats,
  container_fs_io_time_weighted_seconds_total: diskstats,
  container_fs_read_seconds_total: diskstats,
  container_fs_reads_merged_total: diskstats,
  container_fs_sector_reads_total: diskstats,
  container_fs_sector_writes_total: diskstats,
  container_fs_write_seconds_total: diskstats,
  container_fs_writes_merged_total: diskstats,
  machine_nvm_avg_power_budget_watts: modules,
  machine_nvm_capacity: modules,
};

/** Metrics of upstream's /metrics/resource that are not on ours, and why. */
export const absentFromResourcePage: Readonly<Record<string, string>> = {};

const disks = 'the kernel may not count what cgroups do with disks; those of version 1 count little by themselves';
const pressure = 'not every kernel counts for how long tasks wait';

/** Metrics of upstream's /metrics/cadvisor that are on ours only where the kernel counts what they tell. */
export const absentWhereNotCounted: Readonly<Record<string, string>> = {
  container_blkio_device_usage_total: disks,
  container_fs_reads_bytes_total: disks,
  container_fs_reads_total: disks,
  container_fs_writes_bytes_total: disks,
  container_fs_writes_total: disks,
  container_memory_max_usage_bytes: 'cgroups of version 2 remember the most they used from Linux 5.19 on',
  container_pressure_cpu_stalled_seconds_total: pressure,
  container_pressure_cpu_waiting_seconds_total: pressure,
  container_pressure_io_stalled_seconds_total: pressure,
  container_pressure_io_waiting_seconds_total: pressure,
  container_pressure_memory_stalled_seconds_total: pressure,
  container_pressure_memory_waiting_seconds_total: pressure,
};
