// The folder of one machine while it lives: the changes to its disk, its console and what it shares with the host. A folder
// whose owner is dead is removed by the next run.
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootId, startOf } from './processes.mjs';

const prefix = 'tubelet-machine-v2-';
const ownerFile = 'owner.json';

/** A new folder that belongs to this process. */
export function makeRunFolder() {
  removeAbandoned();
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const owner = { pid: process.pid, start: startOf(process.pid), bootId: bootId(), machines: [] };
  writeOwner(folder, owner);
  return folder;
}

/**
 * Writes down a process of the folder's machine. The kernel ends it with its owner; where it did not, the next run does.
 * @param {string} folder
 * @param {number} pid
 */
export function recordMachine(folder, pid) {
  const owner = readOwner(folder);
  owner.machines.push({ pid, start: startOf(pid) });
  writeOwner(folder, owner);
}

/** Removes what runs left that were killed. A folder without an owner may be one that somebody is making right now. */
function removeAbandoned() {
  for (const name of readdirSync(tmpdir())) {
    const folder = join(tmpdir(), name);
    if (!name.startsWith(prefix) || !existsSync(join(folder, ownerFile))) continue;
    const owner = readOwner(folder);
    const sameBoot = owner.bootId === bootId();
    if (sameBoot && startOf(owner.pid) === owner.start) continue;
    for (const { pid, start } of sameBoot ? owner.machines : []) {
      if (startOf(pid) === start) process.kill(pid, 'SIGKILL');
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const readOwner = (folder) => JSON.parse(readFileSync(join(folder, ownerFile), 'utf8'));

/** Renamed into place: a run that is killed here leaves no half of it. */
function writeOwner(folder, owner) {
  const fresh = join(folder, `.${ownerFile}`);
  writeFileSync(fresh, JSON.stringify(owner));
  renameSync(fresh, join(folder, ownerFile));
}
