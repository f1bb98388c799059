import { readFile } from 'node:fs/promises';
import { messageOf, TubeletError } from '../../base/errors.ts';
import { YamlError } from '../../base/yaml.ts';
import type { ApiServerAccess } from './access.ts';
import { parseKubeconfig } from './parse-kubeconfig.ts';

/** `notFound` when there is no such file, which may be in order while the agent still waits for its first certificate. */
export async function loadKubeconfig(file: string, context?: string): Promise<ApiServerAccess> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new TubeletError('notFound', `${file}: there is no such kubeconfig; give another one with --kubeconfig`);
    }
    const kind = code === 'EACCES' ? 'denied' : 'unavailable';
    throw new TubeletError(kind, `${file}: the kubeconfig cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return parseKubeconfig(text, { file, ...(context !== undefined && { context }) });
  } catch (error) {
    if (error instanceof YamlError) throw new TubeletError('invalid', `${file}: ${error.message}`);
    throw error;
  }
}
