import { existsSync, readFileSync } from 'node:fs';
import { kernelTunables, ownProcess } from './own-process.ts';
import { setupFolders } from './setup-folders.ts';

/** This machine, as far as the agent sets it up. */
export const setupMachine = {
  process: ownProcess(),
  tunables: kernelTunables(),
  folders: setupFolders,
  swaps: (): string | undefined => (existsSync('/proc/swaps') ? readFileSync('/proc/swaps', 'utf8') : undefined),
};
