import { existsSync } from 'node:fs';
import { cgroupHierarchies, listMounts } from './cgroups.ts';
import { neededPackages, programs, type NeededPackage } from './programs.ts';

export interface MachineFacts {
  readonly platform: string;
  readonly isRoot: boolean;
  readonly missing: readonly NeededPackage[];
  readonly hasApt: boolean;
  readonly hasCgroups: boolean;
}

export interface Problem {
  readonly what: string;
  readonly remedy: string;
}

type Preflight =
  | { readonly ok: true; readonly install: readonly NeededPackage[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Whether a node can be brought up here, and what to install for it. All problems are reported at once. */
export function checkMachine(facts: MachineFacts, ownRuntime: boolean): Preflight {
  if (facts.platform !== 'linux') {
    return problem(
      `tubelet runs containers, which needs Linux; this is ${facts.platform}`,
      'run it on a Linux machine',
    );
  }
  const problems: Problem[] = [];
  if (!facts.isRoot) problems.push({ what: 'not root', remedy: 'run it again as root, for example: sudo npm start' });
  if (!facts.hasCgroups) {
    problems.push({
      what: 'no cgroup hierarchy is mounted',
      remedy: 'mount one: mount -t cgroup2 cgroup2 /sys/fs/cgroup',
    });
  }
  const install = ownRuntime ? facts.missing : [];
  if (install.length > 0 && !facts.hasApt) {
    problems.push({
      what: `missing: ${install.map((entry) => entry.name).join(', ')}, and there is no apt-get to install them`,
      remedy:
        `install what gives ${install.map((entry) => entry.file).join(', ')}, ` +
        'or name a runtime that is there with --container-runtime-endpoint',
    });
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, install };
}

export function readMachineFacts(): MachineFacts {
  const linux = process.platform === 'linux';
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    missing: neededPackages.filter((entry) => !existsSync(entry.file)),
    hasApt: existsSync(programs.aptGet),
    hasCgroups: linux && cgroupHierarchies(listMounts()).length > 0,
  };
}

const problem = (what: string, remedy: string): Preflight => ({ ok: false, problems: [{ what, remedy }] });
