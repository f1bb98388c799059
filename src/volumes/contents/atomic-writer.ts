import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { ContentFiles, VolumeFiles } from '../ports.ts';
import { foldersOf, isStamp, sameFiles, stampName, visibleNames, type VolumeContents } from './compute-write.ts';
import { conflictIn, pathProblem } from './payload.ts';

interface AtomicWriterDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'hex'>;
  readonly files: Pick<VolumeFiles, 'list' | 'removeTree'>;
  readonly contents: ContentFiles;
}

const dataLink = '..data';

/**
 * Replaces the contents of a volume as a whole. Readers see the old files or the new ones, never a mixture:
 *
 *   volume/..2026_01_02_03_04_05.123/alpha     the files, written before a link leads to them
 *   volume/..data -> ..2026_01_02_03_04_05.123 swapped from one moment to the next
 *   volume/alpha  -> ..data/alpha              one for each first name of a path
 *
 * A crash leaves at worst a folder without a link to it, or a link too many; the next write cleans up. Only one writer at
 * a time may write to a volume.
 */
export async function writeContents(
  { clock, random, files, contents: disk }: AtomicWriterDeps,
  folder: string,
  contents: VolumeContents,
): Promise<'written' | 'unchanged'> {
  requireGoodPaths(contents);
  const names = await files.list(folder);
  let current = names.includes(dataLink) ? await disk.readLink(join(folder, dataLink)) : undefined;
  const isSame = current !== undefined && sameFiles(await disk.readTree(join(folder, current)), contents.files);
  if (!isSame) {
    current = stampName(clock.now(), random.hex(4));
    await writeFolder(disk, join(folder, current), contents);
    await disk.replaceLink(join(folder, dataLink), current, contents.folders);
  }
  const visible = visibleNames(contents.files.keys());
  const present = new Set(names);
  for (const name of visible) {
    const target = join(dataLink, name);
    if (!present.has(name)) await disk.replaceLink(join(folder, name), target, contents.folders);
  }
  for (const name of names) {
    if (name === current || visible.has(name)) continue;
    if (isStamp(name)) await files.removeTree(join(folder, name));
    else if ((await disk.readLink(join(folder, name))) === join(dataLink, name)) await disk.unlink(join(folder, name));
  }
  return isSame ? 'unchanged' : 'written';
}

function requireGoodPaths({ files }: VolumeContents): void {
  for (const path of files.keys()) {
    const problem = pathProblem(path);
    if (problem !== undefined) throw new TubeletError('invalid', problem);
  }
  const conflict = conflictIn(files.keys());
  if (conflict !== undefined) {
    throw new TubeletError('invalid', `invalid path: ${conflict} cannot be both a file and a folder`);
  }
}

async function writeFolder(disk: ContentFiles, folder: string, { files, folders }: VolumeContents): Promise<void> {
  await disk.makeFolder(folder, folders);
  for (const inner of foldersOf(files.keys())) await disk.makeFolder(join(folder, inner), folders);
  await Promise.all([...files].map(([path, file]) => disk.writeFile(join(folder, path), file)));
}
