import type { Log } from '../base/log.ts';
import type { OwnProcess } from './ports.ts';

/** maxOpenFiles. Without the privilege to raise it the limit stays, and the agent works within it. */
export async function limitOpenFiles(
  process: Pick<OwnProcess, 'setMaxOpenFiles'>,
  maxOpenFiles: number,
  log: Log,
): Promise<void> {
  try {
    await process.setMaxOpenFiles(maxOpenFiles);
  } catch (error) {
    log.error(error, 'Failed to set rlimit on max file handles', {
      maxOpenFiles,
      lost: 'the agent keeps the limit it was started with',
    });
  }
}
