import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { mountsAtOrBelow, readMountInfo } from '../../../../src/host/mountinfo.ts';

/** Path below a folder → kind, mode, owner, and what is in a file, where a link leads, what is mounted. */
type Tree = ReadonlyMap<string, string>;

/** Names that are made by chance or by the clock, in short. */
const shortened: readonly (readonly [RegExp, string])[] = [
  [/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+/g, '..<stamp>'],
  [/(containers\/[^/]+)\/[0-9a-f]{8}$/, '$1/<random>'],
];

const short = (path: string): string => shortened.reduce((text, [pattern, word]) => text.replace(pattern, word), path);

/** Everything in a folder and what is mounted in it. `content` says what a file holds, in the words of the comparison. */
export function treeOf(folder: string, content: (text: string) => string): Tree {
  const entries = new Map<string, string>();
  const mounts = mountsAtOrBelow(readMountInfo(), folder);
  const walk = (path: string): void => {
    const facts = lstatSync(path);
    const mount = mounts.find(({ mountPoint }) => mountPoint === path);
    const words = [describe(facts, path, content)];
    if (mount !== undefined)
      words.push(`mounted ${mount.fsType} ${mount.options.join(',')} ${sizeOf(mount.superOptions)}`);
    entries.set(short(path.slice(folder.length)) || '/', words.join(' '));
    if (facts.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name));
  };
  walk(folder);
  return entries;
}

function describe(facts: Stats, path: string, content: (text: string) => string): string {
  const who = `${(facts.mode & 0o7777).toString(8)} ${facts.uid}:${facts.gid}`;
  if (facts.isSymbolicLink()) return `link -> ${short(readlinkSync(path))} ${facts.uid}:${facts.gid}`;
  if (facts.isDirectory()) return `folder ${who}`;
  if (!facts.isFile()) return `special ${who}`;
  const text = content(readFileSync(path, 'utf8'));
  const what = text.length <= 60 ? JSON.stringify(text) : createHash('md5').update(text).digest('hex');
  return `file ${who} ${what}`;
}

/** What of a file system's own options can be asked for. */
function sizeOf(options: readonly string[]): string {
  return options.filter((option) => /^(ro|rw|size=|noswap|mode=)/.test(option)).join(',');
}
