import type { Log } from '../base/log.ts';
import { limitOpenFiles } from './open-files.ts';
import type { SetupMachine } from './ports.ts';
import { setUpRootDirectory, type RootDirectorySettings } from './root-directory.ts';
import { isSwapOn, requireSwap } from './swap.ts';
import { canKeepOutOfSwap } from './try-no-swap.ts';

export interface PrepareSettings extends RootDirectorySettings {
  readonly maxOpenFiles: number;
  readonly failSwapOn: boolean;
  readonly kernelRelease: string;
}

/** What the set-up found out about the machine. */
export interface PreparedHost {
  readonly swapOn: boolean;
  /** Volumes in memory can be kept out of swap. */
  readonly tmpfsNoSwap: boolean;
}

/** What has to be done before the first component starts: all of them use the root directory. */
export async function prepareHost(machine: SetupMachine, settings: PrepareSettings, log: Log): Promise<PreparedHost> {
  await limitOpenFiles(machine.process, settings.maxOpenFiles, log);
  const swapOn = isSwapOn(machine.swaps());
  requireSwap(swapOn, settings.failSwapOn);
  await setUpRootDirectory(machine.folders, settings, log);
  return { swapOn, tmpfsNoSwap: await canKeepOutOfSwap(machine, settings, log) };
}
