import { existsSync, readFileSync } from 'node:fs';
import { kernelTunables, ownProcess } from './own-process.ts';
import { programsWithin } from './node-programs.ts';
import { setupFolders } from './setup-folders.ts';

/** A call waits five seconds for the lock of iptables, and large tables take some more. */
const programMs = 30_000;

/** This machine, as far as the agent sets it up, but for its cgroups. */
export const setupMachine = {
  process: ownProcess(),
  tunables: kernelTunables(),
  folders: setupFolders,
  programs: programsWithin(programMs),
  swaps: (): string | undefined => (existsSync('/proc/swaps') ? readFileSync('/proc/swaps', 'utf8') : undefined),
};
