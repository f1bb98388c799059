// Programs that tests need and that take minutes to compile. They are kept outside the checkout by the content they are
// made of, so that only the first run pays for them.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder with programs, built when it is not there yet.
 * @param {{kind: string, version: string, content: unknown, title: string, minutes: number,
 *   build: (folder: string) => string | undefined}} wanted `content` is all that decides what comes out; `build` fills an
 *   empty folder, and answers why it could not
 * @returns {{folder: string} | {why: string}} where they are, or why they cannot be had
 */
export function cachedPrograms({ kind, version, content, title, minutes, build }) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tubelet', kind);
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const folder = join(cache, `${version}-${hash.slice(0, 16)}`);
  if (existsSync(folder)) return { folder };
  mkdirSync(cache, { recursive: true });
  removeHalves(cache);
  // Beside the real one, then renamed: a build that was cut off leaves nothing that looks whole.
  const fresh = `${folder}.building-${process.pid}`;
  const began = performance.now();
  mkdirSync(fresh);
  try {
    console.error(`building ${title}; the first time takes some ${minutes} minutes on two cores`);
    const why = build(fresh);
    if (why !== undefined) return { why };
    moveInto(fresh, folder);
    console.error(`built ${title} in ${Math.round((performance.now() - began) / 1000)} s: ${folder}`);
    return { folder };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Another run may have finished the same build first; then its folder stays. */
function moveInto(fresh, folder) {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}

/** Removes what builds left that were killed. */
function removeHalves(cache) {
  for (const name of readdirSync(cache)) {
    const pid = /\.building-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(cache, name), { recursive: true, force: true });
  }
}
