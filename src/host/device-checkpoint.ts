import { readFile, stat } from 'node:fs/promises';
import { TubeletError } from '../base/errors.ts';

/** The checkpoint of the device manager of a kubelet that ran here before. */
interface DeviceCheckpoint {
  readonly path: string;
  /** Undefined where there is none. */
  read(): Promise<string | undefined>;
}

const maxBytes = 16 << 20;

export function deviceCheckpoint(rootDir: string): DeviceCheckpoint {
  const path = `${rootDir}/device-plugins/kubelet_internal_checkpoint`;
  return {
    path,
    async read() {
      try {
        const { size } = await stat(path);
        if (size > maxBytes) throw new TubeletError('invalid', `it is larger than ${maxBytes} bytes`);
        return await readFile(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
  };
}
