import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import type { HostIdentity } from '../model/host-facts.ts';

export interface NodeInfoOptions {
  /** Comma-separated, the first that can be read counts. */
  readonly machineIdFiles?: string;
  readonly bootIdFile?: string;
  /** Reads a file; elsewhere in tests. */
  readonly read?: (path: string) => Promise<string>;
}

const machineIdFiles = '/etc/machine-id,/var/lib/dbus/machine-id';
const bootIdFile = '/proc/sys/kernel/random/boot_id';
/** Firmware first; machines without it have a device tree, or only what the installation generated. */
const systemUuidFiles = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
];
const osReleaseFiles = ['/etc/os-release', '/usr/lib/os-release'];

/** An unreadable file leaves its field to the next file or empty: a node without an id is still a node. */
export async function readNodeInfo(options: NodeInfoOptions = {}): Promise<HostIdentity> {
  const read = options.read ?? ((path: string) => readFile(path, 'utf8'));
  const first = async (paths: readonly string[]): Promise<string | undefined> => {
    for (const path of paths) {
      const text = await read(path).catch(() => undefined);
      if (text !== undefined) return text.replaceAll('\0', '').trim();
    }
    return undefined;
  };
  const [machineId, systemUuid, bootId, osRelease] = await Promise.all([
    first((options.machineIdFiles ?? machineIdFiles).split(',')),
    first(systemUuidFiles),
    first((options.bootIdFile ?? bootIdFile).split(',')),
    first(osReleaseFiles),
  ]);
  return {
    machineId: machineId ?? '',
    systemUuid: systemUuid ?? '',
    bootId: bootId ?? '',
    kernelVersion: release(),
    osImage: osRelease === undefined ? 'Unknown' : prettyName(osRelease),
  };
}

/** The name for people in an os-release file. */
export function prettyName(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1];
  return value === undefined ? 'Linux' : value.trim().replaceAll(/^["']|["']$/g, '');
}
