import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
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

/** Makes the cgroup in every hierarchy, with all controllers that are there. */
export async function makeCgroup(path: string, hierarchies = cgroupHierarchies(listMounts())): Promise<void> {
  for (const hierarchy of hierarchies) {
    await mkdir(join(hierarchy, path), { recursive: true });
    await handDownControllers(hierarchy, path);
  }
}

/** On version 2 a cgroup has the controllers that each one above it hands down; a service manager hands down what it needs. */
async function handDownControllers(hierarchy: string, path: string): Promise<void> {
  const parents = path.split('/').slice(1, -1);
  for (const [index] of ['', ...parents].entries()) {
    const folder = join(hierarchy, ...parents.slice(0, index));
    const control = join(folder, 'cgroup.subtree_control');
    if (!existsSync(control)) return;
    const wanted = readFileSync(join(folder, 'cgroup.controllers'), 'utf8').split(/\s+/);
    const words = wanted.filter((name) => name !== '').map((name) => `+${name}`);
    await writeFile(control, words.join(' '));
  }
}

/** The folder and everything below it, children before their parents. */
export function cgroupTree(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...children.flatMap((child) => cgroupTree(join(folder, child.name))), folder];
}

const octalCharacter = (octal: string): string => String.fromCodePoint(Number.parseInt(octal, 8));
