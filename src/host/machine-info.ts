import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { networkInterfaces, availableParallelism } from 'node:os';
import { isIPv4 } from 'node:net';

/** What the kernel reports about the machine. Pseudo-files are read synchronously: that takes microseconds. */
export interface MachineInfo {
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  readonly cpus: number;
  /** Those that are online, as the kernel writes them: `0-3,8`. */
  readonly cpuList: string;
  /** Written as CRI wants them: `2MB`, `1GB`. */
  readonly hugePageSizes: readonly string[];
  readonly thermalThrottlePaths: readonly string[];
  readonly cgroupVersion: 1 | 2;
}

export function readMachineInfo(): MachineInfo {
  const meminfo = readFileSync('/proc/meminfo', 'utf8');
  return {
    memoryBytes: memoryField(meminfo, 'MemTotal'),
    swapBytes: memoryField(meminfo, 'SwapTotal'),
    cpus: availableParallelism(),
    cpuList: readFileSync('/sys/devices/system/cpu/online', 'utf8').trim(),
    hugePageSizes: hugePageSizes(namesIn('/sys/kernel/mm/hugepages')),
    thermalThrottlePaths: namesIn('/sys/devices/system/cpu')
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => `/sys/devices/system/cpu/${name}/thermal_throttle`)
      .filter((path) => existsSync(path)),
    cgroupVersion: existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1,
  };
}

/** A field of /proc/meminfo in bytes; 0 where the kernel has none. */
function memoryField(meminfo: string, field: string): bigint {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1];
  return BigInt(kilobytes ?? 0) * 1024n;
}

/** From names like `hugepages-2048kB`. */
function hugePageSizes(names: readonly string[]): readonly string[] {
  const units = ['KB', 'MB', 'GB', 'TB'];
  return names
    .flatMap((name) => /^hugepages-(\d+)kB$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
    .map((kilobytes) => {
      let [size, unit] = [kilobytes, 0];
      while (size >= 1024 && size % 1024 === 0 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1];
      return `${size}${units[unit]}`;
    });
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The addresses of the interface of the default route, IPv4 first; without one those of any other interface. */
export function outwardAddresses(): readonly string[] {
  const routes = existsSync('/proc/net/route') ? readFileSync('/proc/net/route', 'utf8') : '';
  const interfaces = networkInterfaces();
  const leading = defaultInterface(routes);
  const ofLeading = leading === undefined ? [] : (interfaces[leading] ?? []);
  const candidates = ofLeading.length > 0 ? ofLeading : Object.values(interfaces).flatMap((entries) => entries ?? []);
  const usable = candidates.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const addresses = usable.map(({ address }) => address);
  const first = addresses.find((address) => isIPv4(address)) ?? addresses[0];
  return first === undefined ? ['127.0.0.1'] : [first];
}

/** The interface of the default route in /proc/net/route. */
function defaultInterface(routes: string): string | undefined {
  for (const line of routes.split('\n').slice(1)) {
    const [name, destination, , flags] = line.split('\t');
    const up = (Number.parseInt(flags ?? '0', 16) & 1) === 1;
    if (destination === '00000000' && up) return name;
  }
  return undefined;
}
