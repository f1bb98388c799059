import { readFile, stat } from 'node:fs/promises';
import { TubeletError } from '../base/errors.ts';
import { mappedError } from './files.ts';

const sectorBytes = 512;

/** The size of a block device, through its number and what the kernel knows of it: it is not opened. */
export async function deviceBytes(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (!found.isBlockDevice()) throw new TubeletError('invalid', `${path} is not a block device`);
    const sectors = await readFile(`/sys/dev/block/${deviceNumber(found.rdev)}/size`, 'utf8');
    return Number(sectors) * sectorBytes;
  } catch (error) {
    throw mappedError(error);
  }
}

/** `major:minor`, as Linux packs them into one number. */
export function deviceNumber(packed: number): string {
  const device = BigInt(packed);
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn & 0xffffffffn);
  return `${major}:${minor}`;
}
