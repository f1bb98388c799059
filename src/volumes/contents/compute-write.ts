import type { FileAccess, ContentFile } from '../../model/file-facts.ts';
import { groupMode, type VolumeGroup } from './ownership.ts';
import type { Payload } from './payload.ts';

const folderMode = 0o755;

/** A payload as it is written to disk: with the pod's group where it has one. */
export interface VolumeContents {
  readonly files: ReadonlyMap<string, Required<ContentFile>>;
  /** Of the folders inside the volume. */
  readonly folders: Required<FileAccess>;
}

export function contentsFor(payload: Payload, fsGroup: number | undefined): VolumeContents {
  const group: VolumeGroup | undefined = fsGroup === undefined ? undefined : { gid: fsGroup, readOnly: true };
  const gid = fsGroup ?? 0;
  const mode = (kind: 'file' | 'folder', own: number): number => (group ? groupMode(kind, own, group) : own);
  return {
    files: new Map(
      [...payload].map(([path, file]) => [
        path,
        { content: file.content, mode: mode('file', file.mode), uid: file.uid ?? 0, gid },
      ]),
    ),
    folders: { mode: mode('folder', folderMode), uid: 0, gid },
  };
}

export function sameFiles(one: VolumeContents['files'], other: VolumeContents['files']): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([path, file]) => {
    const found = other.get(path);
    if (found === undefined || found.mode !== file.mode) return false;
    return found.uid === file.uid && found.gid === file.gid && Buffer.compare(found.content, file.content) === 0;
  });
}

/** The folders a set of files needs, those above first. */
export function foldersOf(paths: Iterable<string>): readonly string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) folders.add(path.slice(0, cut));
  }
  return [...folders].sort();
}

/** What containers see at the top of the volume: the first name of every path. */
export function visibleNames(paths: Iterable<string>): ReadonlySet<string> {
  return new Set([...paths].map((path) => path.split('/')[0] ?? path));
}

/** The name of a folder of contents: when it was written, and a number that no other has. */
export function stampName(wallMs: number, hex: string): string {
  const time = new Date(wallMs).toISOString().slice(0, 19).replace(/[-:T]/g, '_');
  return `..${time}.${String(Number.parseInt(hex, 16)).padStart(10, '0')}`;
}

export const isStamp = (name: string): boolean => /^\.\.\d{4}(_\d\d){5}\.\d+$/.test(name);
