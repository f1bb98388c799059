import type { DeviceUsage, Pressure, PressureLine } from '../model/usage.ts';

/** Parses the texts of cgroup files. */

/** A limit of version 1 from this value on means "no limit": the kernel rounds its largest number down to pages. */
const noLimit = 2 ** 62;

/** The number behind `<key> ` or `<key>: ` at the beginning of a line. */
export function fieldOf(text: string, key: string): number | undefined {
  for (const line of text.split('\n')) {
    if (line.startsWith(`${key} `) || line.startsWith(`${key}:`)) return numberOf(line.slice(key.length + 1));
  }
  return undefined;
}

/** The numbers of a file of lines `<key> <number>`, by key. */
export function keyValuesOf(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const end = line.indexOf(' ');
    const value = numberOf(line.slice(end + 1));
    if (end > 0 && value !== undefined) values.set(line.slice(0, end), value);
  }
  return values;
}

/** A number on each line, as in cgroup.procs. A process of a foreign namespace is shown as 0 and is left out. */
export function processIdsOf(text: string): readonly number[] {
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

/** A file that is one number; undefined for `max` and other words. */
export function numberOf(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return value >= 0 ? value : undefined;
}

/** A limit; undefined where there is none. */
export function limitOf(text: string | undefined): number | undefined {
  const limit = numberOf(text);
  return limit === undefined || limit >= noLimit ? undefined : limit;
}

/** The file of a resource's pressure; before Linux 5.13 that of the CPU has one line only. */
export function pressureOf(text: string | undefined): Pressure | undefined {
  if (text === undefined || !text.startsWith('some ')) return undefined;
  const [some = '', full = ''] = text.split('\n');
  return { some: pressureLine(some), full: pressureLine(full) };
}

function pressureLine(line: string): PressureLine {
  const word = (name: string): number => {
    const at = line.indexOf(`${name}=`);
    return at < 0 ? 0 : Number.parseFloat(line.slice(at + name.length + 1));
  };
  return { totalUs: word('total'), avg10: word('avg10'), avg60: word('avg60'), avg300: word('avg300') };
}

/** Devices by `major:minor`, to be summed up from lines. */
type Devices = Map<string, { readBytes: number; writeBytes: number; reads: number; writes: number }>;

/** io.stat of version 2: `8:0 rbytes=1 wbytes=2 rios=3 wios=4 …`; a device without numbers has moved nothing. */
export function ioStat(text: string | undefined, names: ReadonlyMap<string, string>): readonly DeviceUsage[] {
  const devices: Devices = new Map();
  for (const line of (text ?? '').split('\n')) {
    const [number = '', ...words] = line.trim().split(' ');
    if (words.length === 0) continue;
    const figures = new Map(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));
    const figure = (name: string): number => Number(figures.get(name) ?? 0);
    devices.set(number, {
      readBytes: figure('rbytes'),
      writeBytes: figure('wbytes'),
      reads: figure('rios'),
      writes: figure('wios'),
    });
  }
  return deviceList(devices, names);
}

/** The two files of blkio of version 1: lines `8:0 Read 4096`, and a total that belongs to no device. */
export function blkio(
  bytes: string | undefined,
  operations: string | undefined,
  names: ReadonlyMap<string, string>,
): readonly DeviceUsage[] {
  const devices: Devices = new Map();
  const take = (text: string | undefined, read: 'readBytes' | 'reads', write: 'writeBytes' | 'writes'): void => {
    for (const line of (text ?? '').split('\n')) {
      const [number = '', operation, value] = line.split(' ');
      if (value === undefined || (operation !== 'Read' && operation !== 'Write')) continue;
      const device = devices.get(number) ?? { readBytes: 0, writeBytes: 0, reads: 0, writes: 0 };
      device[operation === 'Read' ? read : write] += Number(value);
      devices.set(number, device);
    }
  };
  take(bytes, 'readBytes', 'writeBytes');
  take(operations, 'reads', 'writes');
  return deviceList(devices, names);
}

function deviceList(devices: Devices, names: ReadonlyMap<string, string>): readonly DeviceUsage[] {
  return [...devices].map(([number, figures]) => {
    const [major = 0, minor = 0] = number.split(':').map(Number);
    return { major, minor, device: names.get(number) ?? '', ...figures };
  });
}

/** The numbers of a text, separated by anything but digits. */
export function numbersIn(text: string): readonly number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}
