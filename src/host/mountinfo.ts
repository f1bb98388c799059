import { readFileSync } from 'node:fs';

/** One line of /proc/self/mountinfo. */
export interface MountEntry {
  readonly id: number;
  readonly parentId: number;
  /** `major:minor` of the file system. */
  readonly device: string;
  /** The directory of the file system that is mounted. */
  readonly root: string;
  readonly mountPoint: string;
  readonly options: readonly string[];
  /** Propagation: `shared:1`, `master:2`, … */
  readonly optionalFields: readonly string[];
  readonly fsType: string;
  readonly source: string;
  readonly superOptions: readonly string[];
}

/** Parses the whole file; ignores lines of another form. */
export function parseMountInfo(text: string): MountEntry[] {
  const entries: MountEntry[] = [];
  for (const line of text.split('\n')) {
    const entry = parseLine(line);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

function parseLine(line: string): MountEntry | undefined {
  const words = line.split(' ');
  // There may be any number of optional fields; a lone hyphen ends them.
  const separator = words.indexOf('-', 6);
  if (separator === -1) return undefined;
  const [id, parentId, device = '', root = '', mountPoint = '', options = ''] = words;
  const [fsType = '', source = '', superOptions = ''] = words.slice(separator + 1);
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    root: unescapeOctal(root),
    mountPoint: unescapeOctal(mountPoint),
    options: options.split(','),
    optionalFields: words.slice(6, separator),
    fsType: unescapeOctal(fsType),
    source: unescapeOctal(source),
    superOptions: superOptions.split(','),
  };
}

/** Decodes blanks, tabs, line breaks, hashes and backslashes, which the kernel writes as three octal digits. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The mounts this process sees. Reading a pseudo-file is a memory copy, so it is synchronous. */
export function readMountInfo(): MountEntry[] {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** Mounts on a path or below it. The path must be real: absolute, without links, dots or a slash at its end. */
export function mountsAtOrBelow(mounts: readonly MountEntry[], path: string): MountEntry[] {
  const below = path === '/' ? '/' : `${path}/`;
  return mounts.filter(({ mountPoint }) => mountPoint === path || mountPoint.startsWith(below));
}
