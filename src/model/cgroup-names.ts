import { TubeletError } from '../base/errors.ts';
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

/** cgroupRoot is a path whatever the driver: with systemd `/a/b` means `/a.slice/a-b.slice`. */
export function kubepodsCgroup(cgroupRoot: string): CgroupName {
  return [...parseCgroupName(cgroupRoot, 'cgroupfs'), 'kubepods'];
}

/** Guaranteed pods live directly below the root of all pods. */
export function qosCgroup(cgroupRoot: string, qos: QosClass): CgroupName {
  const root = kubepodsCgroup(cgroupRoot);
  return qos === 'Guaranteed' ? root : [...root, qos.toLowerCase()];
}

export function podCgroup(cgroupRoot: string, qos: QosClass, uid: string): CgroupName {
  return [...qosCgroup(cgroupRoot, qos), `pod${uid}`];
}

/**
 * A name as an operator writes it: a path, or for systemd the name of a slice with or without its ending. A slice names all
 * its parents, so what stands before the last slash says nothing.
 */
export function parseCgroupName(text: string, driver: CgroupDriver): CgroupName {
  const parts = text.split('/').filter((part) => part !== '');
  if (driver === 'cgroupfs') return parts;
  const slice = (parts.at(-1) ?? '').replace(/\.slice$/, '');
  return slice === '' || slice === '-' ? [] : slice.split('-').map((part) => part.replaceAll('_', '-'));
}

/** The path below the mount point of the cgroup file system. Throws for systemd where a part of the name is empty. */
export function cgroupPath(name: CgroupName, driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `/${name.filter((part) => part !== '').join('/')}`;
  if (name.every((part) => part === '')) return '/';
  const slices = name.map((_, index) => sliceUnit(name.slice(0, name.length - index))).toReversed();
  return `/${slices.join('/')}`;
}

/** A slice carries the names of all its parents; a dash parts them, so a dash in a name becomes an underscore. */
export function sliceUnit(name: CgroupName): string {
  if (name.length === 0) return '-.slice';
  const unit = `${name.map((part) => part.replaceAll('-', '_')).join('-')}.slice`;
  if (name.includes('')) throw new TubeletError('invalid', `invalid slice name: ${unit}`);
  return unit;
}

/** Parts of a name as events and errors write them: `["kubepods" "burstable"]`. */
export function quotedCgroup(name: CgroupName): string {
  return `[${name.map((part) => `"${part}"`).join(' ')}]`;
}

/** The uid of the pod that a path of a cgroup is of, or lies in; undefined for other cgroups. */
export function podUidOfCgroup(path: string): string | undefined {
  const named = /\/kubepods\/(?:burstable\/|besteffort\/)?pod([^/]+)/.exec(path)?.[1];
  // No uid that a slice is named by has an underscore of its own.
  return (
    named ?? /kubepods(?:-burstable|-besteffort)?-pod([^/]+?)\.slice(?:\/|$)/.exec(path)?.[1]?.replaceAll('_', '-')
  );
}
