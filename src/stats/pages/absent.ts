/** Metrics of upstream's /metrics/cadvisor that are not on ours, and why. */
export const absentFromCadvisorPage: Readonly<Record<string, string>> = {};

/** Metrics of upstream's /metrics/resource that are not on ours, and why. */
export const absentFromResourcePage: Readonly<Record<string, string>> = {};

const devices = 'the kernel may not count what cgroups do with disks; those of version 1 count little by themselves';
const disks =
  'reported of the machine for each file system that lies on a disk of /proc/diskstats; the kernel counts it for no other cgroup';

/** Metrics of upstream's /metrics/cadvisor that are on ours only where the kernel counts their values. */
export const absentWhereNotCounted: Readonly<Record<string, string>> = {
  container_blkio_device_usage_total: devices,
  container_fs_reads_bytes_total: devices,
  container_fs_reads_total: devices,
  container_fs_writes_bytes_total: devices,
  container_fs_writes_total: devices,
  container_fs_io_current: disks,
  container_fs_io_time_seconds_total: disks,
  container_fs_io_time_weighted_seconds_total: disks,
  container_fs_read_seconds_total: disks,
  container_fs_reads_merged_total: disks,
  container_fs_sector_reads_total: disks,
  container_fs_sector_writes_total: disks,
  container_fs_write_seconds_total: disks,
  container_fs_writes_merged_total: disks,
  container_memory_max_usage_bytes: 'cgroups of version 2 remember the most they used from Linux 5.19 on',
};
