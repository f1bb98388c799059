import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { volumeHost } from '../../src/host/index.ts';
import { instanceNames, runCommand, takeDown } from '../../src/up/index.ts';
import { identityOf, isAlive, readBootId, type ProcessIdentity } from '../../src/up/process-table.ts';
import { clock } from './real-wait.ts';

const prefix = 'tubelet-real-';
const ownerFile = 'owner.json';
/** The instance's root inside the folder: a root may hold nothing but the instance's own files. */
const rootName = 'node';

export interface RealFolder {
  readonly path: string;
  /** For an instance; not there yet. */
  readonly root: string;
  /** Takes the instance down, whatever state it is in, and removes the folder. */
  remove(): Promise<void>;
}

/** A new folder for one test file. What an earlier run that was cut off left is taken down first. */
export async function realFolder(name: string): Promise<RealFolder> {
  await removeLeftovers();
  const path = mkdtempSync(join(tmpdir(), `${prefix}${name}-`));
  writeFileSync(join(path, ownerFile), JSON.stringify({ ...identityOf(process.pid), bootId: readBootId() }));
  return { path, root: join(path, rootName), remove: () => removeFolder(path) };
}

async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name);
    if (name.startsWith(prefix) && isAbandoned(path)) await removeFolder(path);
  }
}

/** Its owner is known and dead. A folder without an owner may be one that somebody is making right now. */
function isAbandoned(path: string): boolean {
  const file = join(path, ownerFile);
  if (!existsSync(file)) return false;
  const owner = JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity & { readonly bootId: string };
  return owner.bootId !== readBootId() || !isAlive(owner);
}

async function removeFolder(path: string): Promise<void> {
  const steps = {
    note: () => undefined,
    step: <Result>(_: string, work: (progress: () => void) => Promise<Result>) => work(() => undefined),
  };
  // Volumes of pods of an agent that was killed. Its root is a mount too, and busy as long as a driver serves a socket in it.
  const { kubeletRoot } = instanceNames(join(path, rootName));
  for (const name of ['pods', 'plugins']) await volumeHost.mounts.release(join(kubeletRoot, name));
  await takeDown(join(path, rootName), 0, steps, { log: silentLog, clock, run: runCommand });
  // What a test mounted itself; a runtime's own mounts are busy as long as it has containers.
  await volumeHost.mounts.release(path);
  await rm(path, { recursive: true, force: true });
}
