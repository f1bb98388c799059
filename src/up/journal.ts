import { open, readFile, rename } from 'node:fs/promises';
import { TubeletError } from '../base/errors.ts';
import { errnoOf, type ProcessIdentity } from './process-table.ts';

type ProcessRole = 'containerd' | 'agent';

/**
 * What an instance made or is about to make. Each fact is on disk before the thing itself is, so that a later reader of the
 * journal knows everything that may exist. Names that follow from the root are not repeated here.
 *
 *   no journal ──claim──> owned ──owner dies──> abandoned ──claim──> owned
 *                           └──────destroy──────────┴────> no journal
 */
export interface Journal {
  readonly version: 1;
  readonly bootId: string;
  /** The process that brings the instance up and supervises it. */
  readonly owner?: ProcessIdentity | undefined;
  /** Whether the owner removes everything by itself when it is asked to end. */
  readonly ownerCleansUp?: boolean | undefined;
  /** Processes by role; a role without an entry may have been started just before its process id was written. */
  readonly processes: Readonly<Partial<Record<ProcessRole, ProcessIdentity>>>;
  /** An external runtime: then there is no containerd, network or image of ours. */
  readonly externalEndpoint?: string | undefined;
  readonly subnet?: string | undefined;
  /** Folders that the whole machine shares and that did not exist before. */
  readonly absentBefore: readonly string[];
  /** Whether host port chains existed before, so that they stay. */
  readonly foreignHostPorts: boolean;
  readonly manifests?: { readonly path: string; readonly made: boolean } | undefined;
  /** The sample as it was written; if it was edited since it belongs to the user. */
  readonly sample?: { readonly path: string; readonly sha256: string } | undefined;
}

export function emptyJournal(bootId: string): Journal {
  return { version: 1, bootId, processes: {}, absentBefore: [], foreignHostPorts: false };
}

/** Processes of the journal that may still live: a reboot ends them all. */
export function recordedProcesses(journal: Journal, bootId: string): readonly ProcessIdentity[] {
  if (journal.bootId !== bootId) return [];
  return Object.values(journal.processes);
}

/**
 * Undefined when there is none. An unreadable journal counts as empty when `isOurs` has other evidence that the folder
 * is an instance's: what follows from the root can then still be removed.
 */
export async function readJournal(path: string, isOurs: () => boolean): Promise<Journal | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  const value: unknown = parseJson(text);
  if (typeof value !== 'object' || value === null || !('version' in value) || !('bootId' in value)) {
    return isOurs() ? { ...emptyJournal(''), foreignHostPorts: true } : undefined;
  }
  if (value.version !== 1) {
    throw new TubeletError('unsupported', `${path} was written by another version of tubelet; remove it with that one`);
  }
  return { ...emptyJournal(''), ...(value as Partial<Journal>) };
}

export async function writeJournal(path: string, journal: Journal): Promise<void> {
  const temporary = `${path}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(journal, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}

/** The journal of a living instance; changes are written one after the other. */
export class JournalKeeper {
  readonly #path: string;
  #journal: Journal;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, journal: Journal) {
    this.#path = path;
    this.#journal = journal;
  }

  get journal(): Journal {
    return this.#journal;
  }

  /** Resolves when the change is on disk. */
  update(change: (journal: Journal) => Journal): Promise<void> {
    this.#journal = change(this.#journal);
    const written = this.#writing.then(() => writeJournal(this.#path, this.#journal));
    // A failure must not fail the next write; its own caller gets the error.
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
