import type { DiskActivity, FilesystemUsage, InterfaceUsage } from '../../model/usage.ts';
import type { CgroupSubject, DeviceSubject } from './cgroup-subject.ts';
import type { Family } from './family.ts';

/** What a cgroup moves over devices and networks, and what it takes of file systems: a sample for each of them. */

type CgroupFamily = Family<CgroupSubject>;

const family = (name: string, type: CgroupFamily['type'], help: string, each: CgroupFamily['each']): CgroupFamily => ({
  name,
  type,
  help,
  timed: true,
  each,
});

const overDevices = (name: string, help: string, value: (of: DeviceSubject['of']) => number): CgroupFamily =>
  family(name, 'counter', help, ({ devices }, put) => {
    for (const { labels, of } of devices) put(labels, value(of));
  });

const onFilesystems = (name: string, help: string, value: (of: FilesystemUsage) => number | undefined): CgroupFamily =>
  family(name, 'gauge', help, ({ filesystems }, put) => {
    for (const { labels, of } of filesystems) put(labels, value(of));
  });

const overNetwork = (name: string, help: string, value: (of: InterfaceUsage) => number): CgroupFamily =>
  family(name, 'counter', help, ({ interfaces }, put) => {
    for (const { labels, of } of interfaces) put(labels, value(of));
  });

/** What was done, by device where the kernel counts that of a cgroup, and for the machine by the disks it has. */
const operations = (
  name: string,
  help: string,
  ofDevice: (of: DeviceSubject['of']) => number,
  ofDisk: (of: DiskActivity) => number,
): CgroupFamily =>
  family(name, 'counter', help, ({ devices, disks }, put) => {
    for (const { labels, of } of devices) put(labels, ofDevice(of));
    for (const { labels, of, isCounted } of disks) if (!isCounted) put(labels, ofDisk(of));
  });

const onDisks = (
  name: string,
  type: CgroupFamily['type'],
  help: string,
  value: (of: DiskActivity) => number,
): CgroupFamily =>
  family(name, type, help, ({ disks }, put) => {
    for (const { labels, of } of disks) put(labels, value(of));
  });

const second = 1_000;

export const ioFamilies: readonly CgroupFamily[] = [
  family('container_blkio_device_usage_total', 'counter', 'Bytes moved, by device and operation.', (subject, put) => {
    for (const { of, reading, writing } of subject.devices) {
      put(reading, of.readBytes);
      put(writing, of.writeBytes);
    }
  }),
  overDevices('container_fs_reads_bytes_total', 'Bytes read.', (of) => of.readBytes),
  operations(
    'container_fs_reads_total',
    'Reads done.',
    (of) => of.reads,
    (of) => of.reads,
  ),
  overDevices('container_fs_writes_bytes_total', 'Bytes written.', (of) => of.writeBytes),
  operations(
    'container_fs_writes_total',
    'Writes done.',
    (of) => of.writes,
    (of) => of.writes,
  ),
  onDisks('container_fs_io_current', 'gauge', 'Reads and writes under way.', (of) => of.inProgress),
  onDisks('container_fs_io_time_seconds_total', 'counter', 'Time the disk was busy.', (of) => of.busyMs / second),
  onDisks(
    'container_fs_io_time_weighted_seconds_total',
    'counter',
    'Time that reads and writes were under way, each counted.',
    (of) => of.weightedMs / second,
  ),
  onDisks('container_fs_read_seconds_total', 'counter', 'Time taken by reads.', (of) => of.readMs / second),
  onDisks('container_fs_reads_merged_total', 'counter', 'Reads merged with others.', (of) => of.readsMerged),
  onDisks('container_fs_sector_reads_total', 'counter', 'Sectors read.', (of) => of.sectorsRead),
  onDisks('container_fs_sector_writes_total', 'counter', 'Sectors written.', (of) => of.sectorsWritten),
  onDisks('container_fs_write_seconds_total', 'counter', 'Time taken by writes.', (of) => of.writeMs / second),
  onDisks('container_fs_writes_merged_total', 'counter', 'Writes merged with others.', (of) => of.writesMerged),
  onFilesystems('container_fs_inodes_free', 'Inodes that are free.', (of) => of.inodesFree),
  onFilesystems('container_fs_inodes_total', 'Inodes there are.', (of) => of.inodes),
  onFilesystems('container_fs_limit_bytes', 'Size of the file system.', (of) => of.capacity),
  onFilesystems('container_fs_usage_bytes', 'Bytes taken on the file system.', (of) => of.used),
  overNetwork('container_network_receive_bytes_total', 'Bytes received.', (of) => of.rxBytes),
  overNetwork('container_network_receive_errors_total', 'Errors while receiving.', (of) => of.rxErrors),
  overNetwork('container_network_receive_packets_dropped_total', 'Packets dropped on arrival.', (of) => of.rxDropped),
  overNetwork('container_network_receive_packets_total', 'Packets received.', (of) => of.rxPackets),
  overNetwork('container_network_transmit_bytes_total', 'Bytes sent.', (of) => of.txBytes),
  overNetwork('container_network_transmit_errors_total', 'Errors while sending.', (of) => of.txErrors),
  overNetwork('container_network_transmit_packets_dropped_total', 'Packets dropped on sending.', (of) => of.txDropped),
  overNetwork('container_network_transmit_packets_total', 'Packets sent.', (of) => of.txPackets),
];
