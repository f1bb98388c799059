import type { QosClass } from './qos.ts';

/**
 * The place of a group in the tree of cgroups, independent of the driver.
 *
 *   []  ──  kubepods ─┬─ pod<uid>               guaranteed
 *                     ├─ burstable ── pod<uid>
 *                     └─ besteffort ── pod<uid>
 */
export type CgroupName = readonly string[];
export type CgroupDriver = 'cgroupfs' | 'systemd';

export function kubepodsCgroup(cgroupRoot: string): CgroupName {
  return [...cgroupRoot.split('/').filter((part) => part !== ''), 'kubepods'];
}

/** Guaranteed pods live directly below the root of all pods. */
export function qosCgroup(cgroupRoot: string, qos: QosClass): CgroupName {
  const root = kubepodsCgroup(cgroupRoot);
  return qos === 'Guaranteed' ? root : [...root, qos.toLowerCase()];
}

export function podCgroup(cgroupRoot: string, qos: QosClass, uid: string): CgroupName {
  return [...qosCgroup(cgroupRoot, qos), `pod${uid}`];
}

/** The path below the mount point of the cgroup file system. */
export function cgroupPath(name: CgroupName, driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `/${name.join('/')}`;
  const slices = name.map((_, index) => sliceName(name.slice(0, index + 1)));
  return `/${slices.join('/')}`;
}

/** A slice carries the names of all its parents; a dash parts them, so a dash in a name becomes an underscore. */
function sliceName(name: CgroupName): string {
  return name.length === 0 ? '-.slice' : `${name.map((part) => part.replaceAll('-', '_')).join('-')}.slice`;
}

/** The parent cgroup that the runtime gets for a pod's containers: the path, or for systemd the bare unit. */
export function sandboxCgroupParent(name: CgroupName, driver: CgroupDriver): string {
  return driver === 'systemd' ? sliceName(name) : cgroupPath(name, driver);
}

/** The uid of the pod that a path of a cgroup is of, or lies in; undefined for other cgroups. */
export function podUidOfCgroup(path: string): string | undefined {
  const named = /\/kubepods\/(?:burstable\/|besteffort\/)?pod([^/]+)/.exec(path)?.[1];
  // No uid that a slice is named by has an underscore of its own.
  return (
    named ?? /kubepods(?:-burstable|-besteffort)?-pod([^/]+?)\.slice(?:\/|$)/.exec(path)?.[1]?.replaceAll('_', '-')
  );
}
