import type {
  CgroupUsage,
  DeviceUsage,
  DiskActivity,
  FilesystemUsage,
  InterfaceUsage,
  OwnedUsage,
} from '../../model/usage.ts';
import { label, labelText, stampOf, type Subject } from './family.ts';

/** A cgroup with the texts of its labels, which dozens of families need: they are made once per page. */
export interface CgroupSubject extends Subject {
  readonly usage: CgroupUsage;
  readonly plain: string;
  readonly allCpus: string;
  readonly openFiles: string;
  readonly taskStates: readonly string[];
  readonly faults: { readonly own: FaultLabels; readonly all: FaultLabels };
  readonly devices: readonly DeviceSubject[];
  readonly filesystems: readonly Labelled<FilesystemUsage>[];
  readonly disks: readonly DiskSubject[];
  readonly interfaces: readonly Labelled<InterfaceUsage>[];
}

interface FaultLabels {
  readonly minor: string;
  readonly major: string;
}

interface Labelled<T> {
  readonly labels: string;
  readonly of: T;
}

/** The disk that a file system lies on. */
interface DiskSubject extends Labelled<DiskActivity> {
  /** It is among the devices too, whose reads and writes are reported. */
  readonly isCounted: boolean;
}

export interface DeviceSubject extends Labelled<DeviceUsage> {
  readonly reading: string;
  readonly writing: string;
}

const noDisks: readonly DiskSubject[] = [];
const states = ['sleeping', 'running', 'stopped', 'uninterruptible', 'iowaiting'] as const;

/** How the snapshot calls a sandbox among containers. */
export const sandboxName = 'POD';

/** Sorted by container and cgroup, as the labels would sort them; a cgroup that is there twice is reported once. */
export function cgroupSubjects(cgroups: readonly OwnedUsage[]): readonly CgroupSubject[] {
  return unique(cgroups, ({ usage }) => usage.path)
    .map((owned) => ({ owned, container: containerLabel(owned) }))
    .sort((a, b) => compare(a.container, b.container) || compare(a.owned.usage.path, b.owned.usage.path))
    .map(({ owned, container }) => cgroupSubject(owned, container));
}

/** Runtimes give sandboxes no container's name, so what sums up containers by that label leaves sandboxes out. */
function containerLabel({ owner }: OwnedUsage): string {
  return owner === undefined || owner.container === sandboxName ? '' : owner.container;
}

/** Labels go by the alphabet, so what single families have besides stands between those that all have. */
function cgroupSubject({ usage, owner, network, filesystems }: OwnedUsage, containerName: string): CgroupSubject {
  const container = label('container', containerName);
  const id = `${label('id', usage.path)},${label('image', owner?.image ?? '')}`;
  const name = `${label('name', owner?.id ?? '')},${label('namespace', owner?.namespace ?? '')}`;
  const pod = label('pod', owner?.pod ?? '');
  const rest = `${id},${name},${pod}`;
  const fault = (type: string, scope: string): string =>
    labelText(`${container},failure_type="${type}",${rest},scope="${scope}"`);
  const faults = (scope: string): FaultLabels => ({
    minor: fault('pgfault', scope),
    major: fault('pgmajfault', scope),
  });
  const devices = unique(usage.devices, deviceName);
  const named = unique(filesystems, (of) => of.device ?? '').map((of) => ({
    of,
    labels: labelText(`${container},${label('device', of.device ?? '')},${rest}`),
  }));
  return {
    usage,
    stamp: stampOf(usage.at),
    plain: labelText(`${container},${rest}`),
    allCpus: labelText(`${container},cpu="total",${rest}`),
    openFiles: labelText(`${container},${rest},ulimit="max_open_files"`),
    taskStates: states.map((state) => labelText(`${container},${rest},state="${state}"`)),
    faults: { own: faults('container'), all: faults('hierarchy') },
    devices: devices.map((of) => {
      const device = `${container},${label('device', deviceName(of))}`;
      const before = `${device},${id},major="${of.major}",minor="${of.minor}",${name}`;
      return {
        of,
        labels: labelText(`${device},${rest}`),
        reading: labelText(`${before},operation="Read",${pod}`),
        writing: labelText(`${before},operation="Write",${pod}`),
      };
    }),
    filesystems: named,
    disks: named.flatMap(({ of, labels }) => {
      if (of.disk === undefined) return noDisks;
      return { labels, of: of.disk, isCounted: devices.some((device) => deviceName(device) === of.device) };
    }),
    interfaces: unique(network, (of) => of.name).map((of) => ({
      of,
      labels: labelText(`${container},${id},${label('interface', of.name)},${name},${pod}`),
    })),
  };
}

/** A device without a known name is named by its numbers. */
const deviceName = ({ device, major, minor }: DeviceUsage): string => (device === '' ? `${major}:${minor}` : device);

/** The first of each: readers of the format refuse a series that is there twice. */
function unique<T>(list: readonly T[], keyOf: (entry: T) => string): readonly T[] {
  if (list.length < 2) return list;
  const seen = new Set<string>();
  return list.filter((entry) => seen.size < seen.add(keyOf(entry)).size);
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
