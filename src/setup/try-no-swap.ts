import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { SetupMachine } from './ports.ts';
import { noSwapAnswer } from './swap.ts';

/** Whether volumes in memory can be kept out of swap. */
export async function canKeepOutOfSwap(
  { folders, process }: Pick<SetupMachine, 'folders' | 'process'>,
  { kernelRelease, rootDir }: { readonly kernelRelease: string; readonly rootDir: string },
  log: Log,
): Promise<boolean> {
  const answer = noSwapAnswer(kernelRelease, process.inUserNamespace());
  if (answer !== 'try') return answer === 'yes';
  try {
    await folders.tryTmpfs(rootDir, 'noswap');
    return true;
  } catch (error) {
    log.debug(2, 'A tmpfs cannot be kept out of swap by this kernel', { kernel: kernelRelease, err: messageOf(error) });
    return false;
  }
}
