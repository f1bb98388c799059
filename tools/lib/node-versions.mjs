// The versions of Node.js that tubelet runs on, from npm's packages of the binaries, which npm checks against their digests.
// They are kept outside the checkout, so that only the first run downloads them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** By major version: the release that is tested. */
export const nodeVersions = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' };

/**
 * The folder of a version's `node`, downloaded when it is not there yet.
 * @param {string} major
 * @returns {{folder: string} | {why: string}} where it is, or why it cannot be had
 */
export function nodeFolder(major) {
  const version = nodeVersions[major];
  if (version === undefined)
    return { why: `no Node.js ${major} among the tested versions, which are ${Object.keys(nodeVersions).join(', ')}` };
  if (process.version === `v${version}`) return { folder: dirname(process.execPath) };
  const name = `node-${process.platform}-${process.arch}`;
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tubelet', 'node');
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return { folder };
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(`${folder}.`);
  try {
    console.error(`downloading Node.js ${version}`);
    const problem = download(`${name}@${version}`, fresh);
    if (problem !== undefined) return { why: problem };
    moveInto(join(fresh, 'package/bin'), folder);
    return { folder };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** The environment in which `node` is the one of a folder, also for `bin/tubelet`. */
export function envWithNode(folder) {
  return { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` };
}

/** Answers why it failed, or nothing. */
function download(name, folder) {
  const packed = run('npm', ['pack', '--silent', '--pack-destination', folder, name], folder);
  if (packed.problem !== undefined) return packed.problem;
  const archive = packed.stdout.trim().split('\n').at(-1);
  const unpacked = run('tar', ['-xzf', archive, 'package/bin'], folder);
  if (unpacked.problem !== undefined) return unpacked.problem;
  return run(join(folder, 'package/bin/node'), ['--version'], folder).problem;
}

function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status === 0) return { stdout };
  return { problem: `${program} ${args[0]} failed: ${error?.message ?? stderr.trim().split('\n').at(-1)}` };
}

/** Another run may have been first; then its folder stays. */
function moveInto(fresh, folder) {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}
