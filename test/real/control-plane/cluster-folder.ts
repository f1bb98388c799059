import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProcess } from '../../../src/up/detached-process.ts';
import { identityOf, isAlive, readBootId, type ProcessIdentity } from '../../../src/up/process-table.ts';
import { clock } from '../../support/real-wait.ts';

const prefix = 'tubelet-cluster-';
const ownerFile = 'owner.json';
const processFolder = 'processes';
const endPatienceMs = 10_000;

/** Everything of one control plane: keys, data, logs, and which processes are its own. */
export class ClusterFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  file(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /** Keeps a process in mind, so that a later run can end it when this one is killed. */
  record(name: string, identity: ProcessIdentity): void {
    writeFileSync(this.file(processFolder, name), JSON.stringify(identity));
  }

  /** Processes that were recorded and still live. A number that somebody else has by now is not among them. */
  living(): readonly ProcessIdentity[] {
    const folder = this.file(processFolder);
    return readdirSync(folder)
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ProcessIdentity)
      .filter(isAlive);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** A new folder. What runs that were cut off have left is ended and removed first. */
export async function makeClusterFolder(): Promise<ClusterFolder> {
  await removeAbandoned();
  const folder = new ClusterFolder(mkdtempSync(join(tmpdir(), prefix)));
  mkdirSync(folder.file(processFolder));
  writeFileSync(folder.file(ownerFile), JSON.stringify({ ...identityOf(process.pid), bootId: readBootId() }));
  return folder;
}

async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const folder = new ClusterFolder(join(tmpdir(), name));
    const owner = ownerOf(folder);
    // A folder without an owner may be one that somebody is making right now.
    if (owner === undefined) continue;
    const sameBoot = owner.bootId === readBootId();
    if (sameBoot && isAlive(owner)) continue;
    // After a reboot the numbers mean other processes.
    const left = sameBoot ? folder.living() : [];
    await Promise.all(left.map((identity) => endProcess(identity, clock, endPatienceMs)));
    await folder.remove();
  }
}

function ownerOf(folder: ClusterFolder): (ProcessIdentity & { readonly bootId: string }) | undefined {
  const path = folder.file(ownerFile);
  return existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity & { readonly bootId: string })
    : undefined;
}
