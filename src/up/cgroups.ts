import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

interface Mount {
  readonly path: string;
  readonly type: string;
}

/** Mounts in the order they were made. */
export function listMounts(): readonly Mount[] {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** /proc/self/mountinfo writes blanks and backslashes of paths as octal numbers. */
export function parseMountInfo(text: string): readonly Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split('\n')) {
    const fields = line.split(' ');
    const path = fields[4];
    const type = fields[fields.indexOf('-') + 1];
    if (path === undefined || type === undefined) continue;
    mounts.push({ path: path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => octalCharacter(octal)), type });
  }
  return mounts;
}

/** Where cgroup hierarchies are mounted: one on version 2, one per controller on version 1. */
export function cgroupHierarchies(mounts: readonly Mount[]): readonly string[] {
  return [...new Set(mounts.filter((mount) => /^cgroup2?$/.test(mount.type)).map((mount) => mount.path))];
}

/** Makes the cgroup in every hierarchy. */
export async function makeCgroup(path: string): Promise<void> {
  for (const hierarchy of cgroupHierarchies(listMounts())) await mkdir(join(hierarchy, path), { recursive: true });
}

/** The folder and everything below it, children before their parents. */
export function cgroupTree(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...children.flatMap((child) => cgroupTree(join(folder, child.name))), folder];
}

const octalCharacter = (octal: string): string => String.fromCodePoint(Number.parseInt(octal, 8));
