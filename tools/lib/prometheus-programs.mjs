// Prometheus and its tool promtool, from Debian's package. It is taken apart and not installed, because that starts a
// service; the two programs are kept outside the checkout, so that only the first run downloads them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { extractDebianPackage } from './debian.mjs';

const names = ['promtool', 'prometheus'];

/**
 * The folder with both programs, fetched when it is not there yet.
 * @returns {{folder: string} | {why: string}} where they are, or why they cannot be had
 */
export function prometheusPrograms() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tubelet');
  const folder = join(cache, 'prometheus');
  if (existsSync(folder)) return { folder };
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(`${folder}.`);
  try {
    const parts = join(fresh, 'parts');
    const why = extractDebianPackage('prometheus', parts);
    if (why !== undefined) return { why };
    const programs = join(fresh, 'programs');
    mkdirSync(programs);
    for (const name of names) renameSync(join(parts, 'usr/bin', name), join(programs, name));
    const { status, stderr, error } = spawnSync(join(programs, 'promtool'), ['--version'], { encoding: 'utf8' });
    if (status !== 0) return { why: `promtool does not run: ${stderr || error}` };
    moveInto(programs, folder);
    return { folder };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Another run may have been first; then its folder stays. */
function moveInto(programs, folder) {
  try {
    renameSync(programs, folder);
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}
