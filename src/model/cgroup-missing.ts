import { quotedCgroup, type CgroupName } from './cgroup-names.ts';

/** What a cgroup lacks to count as there: directories of version 1, controllers of version 2, or all of it. */
export interface CgroupMissing {
  readonly what: 'paths' | 'controllers' | 'cgroup';
  readonly names: readonly string[];
}

export function missingText(name: CgroupName, { what, names }: CgroupMissing): string {
  if (what === 'cgroup') return `could not read controllers for cgroup ${quotedCgroup(name)}: it is not there`;
  return `cgroup ${quotedCgroup(name)} has some missing ${what}: ${names.join(', ')}`;
}
