import {
  cgroupPath,
  kubepodsCgroup,
  parseCgroupName,
  podCgroup,
  podUidOfCgroup,
  sliceUnit,
  type CgroupDriver,
} from '../../../src/model/cgroup-names.ts';
import type { QosClass } from '../../../src/model/qos.ts';
import { podUidText } from '../../../src/model/validation/names.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';

interface Names {
  readonly names: readonly {
    readonly components: readonly string[];
    readonly cgroupfs: string;
    readonly systemd?: string;
    readonly systemdPanic?: string;
    readonly unit?: string;
    readonly wants?: string;
  }[];
  readonly newCgroupName: readonly {
    readonly base: readonly string[] | null;
    readonly add: readonly string[];
    readonly result?: readonly string[];
    readonly panic?: string;
  }[];
  readonly pods: readonly {
    readonly driver: CgroupDriver;
    readonly cgroupRoot: string;
    readonly qos: QosClass;
    /** The uid read back: null where the cgroup does not count as that of a pod. No path: the recorded kubelet crashes. */
    readonly pods: readonly (readonly [uid: string, path: string | null, uidBack: string | null])[];
  }[];
  readonly parse: readonly {
    readonly driver: CgroupDriver;
    readonly input: string;
    readonly components: readonly string[];
    readonly path?: string;
    readonly isPodCgroup: boolean;
    readonly uid?: string;
    readonly panic?: string;
  }[];
  readonly nodeAllocatableRoot: readonly {
    readonly driver: CgroupDriver;
    readonly cgroupRoot: string;
    readonly cgroupsPerQOS: boolean;
    readonly path: string;
  }[];
}

const { names, newCgroupName, pods, parse, nodeAllocatableRoot } = loadTable<Names>('cgroups/names');

compareRows(
  'names',
  names.map(({ components, cgroupfs, systemd, systemdPanic, unit, wants }) => ({
    key: JSON.stringify(components),
    recorded: { cgroupfs, systemd, unit, wants, error: systemdPanic?.replace(/^.*: (?=invalid slice name)/, '') },
    ours: () => ({ cgroupfs: cgroupPath(components, 'cgroupfs'), ...asSlice(components) }),
  })),
  differences,
);

/** The unit is the last part of the path, and the one before it the slice that it is wanted by. */
function asSlice(components: readonly string[]): object {
  try {
    const systemd = cgroupPath(components, 'systemd');
    const unit = systemd === '/' ? '' : sliceUnit(components);
    return { systemd, unit, wants: unit === '' ? '-.slice' : sliceUnit(components.slice(0, -1)) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** The only part of a name that comes from outside is a pod's uid, and those are checked where pods come in. */
const isRefused = (part: string): boolean =>
  part.startsWith('pod') && podUidText(part.slice('pod'.length)) !== undefined;

compareRows(
  'newCgroupName',
  newCgroupName.map(({ base, add, result, panic }) => ({
    key: JSON.stringify([base, add]),
    recorded: panic === undefined ? result : 'refused',
    ours: () => (add.some((part) => /[_/]/.test(part) && isRefused(part)) ? 'refused' : [...(base ?? []), ...add]),
  })),
  differences,
);

compareRows(
  'pods',
  pods.flatMap(({ driver, cgroupRoot, qos, pods: rows }) =>
    rows.map(([uid, path, uidBack]) => ({
      key: `${driver} ${cgroupRoot} ${qos} ${JSON.stringify(uid)}`,
      recorded: path === null ? 'refused' : { path, uidBack: uidBack || null },
      ours: () => {
        if (path === null && isRefused(`pod${uid}`)) return 'refused';
        const ours = cgroupPath(podCgroup(cgroupRoot, qos, uid), driver);
        return { path: ours, uidBack: podUidOfCgroup(ours) ?? null };
      },
    })),
  ),
  differences,
);

compareRows(
  'parse',
  parse.map(({ driver, input, components, path, panic, isPodCgroup, uid }) => ({
    key: `${driver} ${input}`,
    recorded: panic === undefined ? { components, path, uid: isPodCgroup ? uid : null } : { panic },
    ours: () => {
      const name = parseCgroupName(input, driver);
      const ours = cgroupPath(name, driver);
      return { components: name, path: ours, uid: podUidOfCgroup(ours) ?? null };
    },
  })),
  differences,
);

compareRows(
  'nodeAllocatableRoot',
  nodeAllocatableRoot.map(({ driver, cgroupRoot, cgroupsPerQOS, path }) => ({
    key: [driver, cgroupRoot, cgroupsPerQOS].join(' '),
    recorded: path,
    ours: () =>
      cgroupPath(cgroupsPerQOS ? kubepodsCgroup(cgroupRoot) : parseCgroupName(cgroupRoot, 'cgroupfs'), driver),
  })),
  differences,
);
