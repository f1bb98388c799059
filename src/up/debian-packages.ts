import { existsSync } from 'node:fs';
import { TubeletError } from '../base/errors.ts';
import type { RunCommand } from './ports.ts';
import { programs, type NeededPackage } from './programs.ts';

const timeoutMs = 15 * 60_000;

/**
 * Installs Debian packages. Services that their scripts start, such as a containerd of the system, are not ours and are
 * left alone. It cannot be interrupted, because half an installation is worse than a late answer.
 */
export async function installPackages(
  packages: readonly NeededPackage[],
  run: RunCommand,
  progress: (text: string) => void,
): Promise<void> {
  const options = { timeoutMs, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  progress('reading package lists');
  await run(programs.aptGet, ['update', '-qq'], options);
  progress('downloading and unpacking');
  const names = packages.map((entry) => entry.name);
  await run(programs.aptGet, ['install', '-y', '-qq', '--no-install-recommends', ...names], options);
  const absent = packages.filter((entry) => !existsSync(entry.file));
  if (absent.length > 0) {
    const files = absent.map((entry) => `${entry.file} (${entry.name})`).join(', ');
    throw new TubeletError('unavailable', `apt-get reported success, but these are still missing: ${files}`);
  }
}
