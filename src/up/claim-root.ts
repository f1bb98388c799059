import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import { emptyJournal, JournalKeeper, readJournal, writeJournal, type Journal } from './journal.ts';
import { instanceNames, type InstanceNames } from './names.ts';
import { identityOf, isAlive, readBootId, type ProcessIdentity } from './process-table.ts';

/** One spelling for each folder, also for a missing one: links on the way to it are followed. */
export function canonicalRoot(path: string): string {
  const absolute = resolve(path);
  if (existsSync(absolute)) return realpathSync(absolute);
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(canonicalRoot(parent), basename(absolute));
}

export async function loadJournal(names: InstanceNames): Promise<Journal | undefined> {
  return readJournal(names.journal, () => existsSync(names.runDir) || existsSync(names.containerdConfig));
}

/** The living process that owns the instance, if any. */
export function livingOwner(journal: Journal | undefined, bootId: string): ProcessIdentity | undefined {
  if (journal?.owner === undefined || journal.bootId !== bootId) return undefined;
  return isAlive(journal.owner) ? journal.owner : undefined;
}

type RootVerdict =
  | { readonly kind: 'fresh' }
  /** Left by a process that has ended. */
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'taken'; readonly pid: number }
  | { readonly kind: 'foreign'; readonly contents: readonly string[] };

/** Classifies a root with these contents. Only manifests outlive an instance. */
export function classifyRoot(
  contents: readonly string[],
  journal: Journal | undefined,
  owner: ProcessIdentity | undefined,
): RootVerdict {
  if (owner !== undefined) return { kind: 'taken', pid: owner.pid };
  if (journal !== undefined) return { kind: 'abandoned' };
  const strange = contents.filter((name) => !['manifests', 'state.json', 'state.json.new'].includes(name));
  return strange.length > 0 ? { kind: 'foreign', contents: strange } : { kind: 'fresh' };
}

export interface ClaimedRoot {
  readonly names: InstanceNames;
  readonly keeper: JournalKeeper;
  /** Whether there was an instance before, whose journal is taken over. */
  readonly abandoned: boolean;
}

/** Makes this process the owner of the root, or throws an error that names the owner. */
export async function claimRoot(root: string, ownerCleansUp: boolean): Promise<ClaimedRoot> {
  const names = instanceNames(canonicalRoot(root));
  const bootId = readBootId();
  const journal = await loadJournal(names);
  const abandoned = await checkRoot(names, journal, bootId);
  const base = journal?.bootId === bootId ? journal : { ...(journal ?? emptyJournal(bootId)), bootId, processes: {} };
  await mkdir(names.root, { recursive: true, mode: 0o755 });
  const claimed = { ...base, owner: identityOf(process.pid), ownerCleansUp };
  await writeJournal(names.journal, claimed);
  return { names, keeper: new JournalKeeper(names.journal, claimed), abandoned };
}

/** Throws when the root cannot be used; otherwise answers whether an earlier owner left something in it. */
export async function checkRoot(names: InstanceNames, journal: Journal | undefined, bootId: string): Promise<boolean> {
  const contents = existsSync(names.root) ? await readdir(names.root) : [];
  const state = classifyRoot(contents, journal, livingOwner(journal, bootId));
  if (state.kind === 'taken') {
    throw new TubeletError(
      'alreadyExists',
      `tubelet is already running in ${names.root} (process ${state.pid}); stop it with: tubelet down --root ${names.root}`,
    );
  }
  if (state.kind === 'foreign') {
    throw new TubeletError(
      'invalid',
      `${names.root} holds files that are not tubelet's (${state.contents.slice(0, 3).join(', ')}); name an empty folder with --root`,
    );
  }
  return state.kind === 'abandoned';
}
