import { readFile } from 'node:fs/promises';
import { parseKubeconfig } from '../apiserver/index.ts';

/** Access as an administrator has it, from a file that a control plane wrote. */
export async function loadKubeconfig(file: string): Promise<ReturnType<typeof parseKubeconfig>> {
  return parseKubeconfig(await readFile(file, 'utf8'), { file });
}
