import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';

interface LoopDevice {
  readonly path: string;
  readonly file: string;
  /** File system and inode of the file: the path of a device that is behind another is often not known. */
  readonly identity: string;
}

function loopDevices(): readonly LoopDevice[] {
  const words = ['--list', '--noheadings', '--output=NAME,BACK-MAJ:MIN,BACK-INO,BACK-FILE'];
  const rows = execFileSync('losetup', words, { encoding: 'utf8' }).split('\n');
  return rows.flatMap((row) => {
    const [, path = '', device = '', inode = '', file = ''] = /^(\S+)\s+(\S+)\s+(\d+)\s+(.*)$/.exec(row.trim()) ?? [];
    return path === '' ? [] : [{ path, file, identity: `${device} ${inode}` }];
  });
}

/** Loop devices whose files are in a folder. */
export function loopDevicesBelow(folder: string): readonly string[] {
  return loopDevices().flatMap(({ path, file }) => (file.startsWith(`${folder}/`) ? [path] : []));
}

/** Frees them, with the devices that agents put on top of devices so that nobody takes those away. */
export function freeLoopDevicesBelow(folder: string): void {
  const below = loopDevicesBelow(folder);
  const identities = new Set(below.map(identityOf));
  const above = loopDevices().filter(({ identity }) => identities.has(identity));
  for (const path of [...above.map((device) => device.path), ...below]) execFileSync('losetup', ['--detach', path]);
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path);
  return `${(dev >> 8) & 0xfff}:${dev & 0xff} ${ino}`;
}
