import { canonicalRoot, livingOwner, loadJournal } from './claim-root.ts';
import { waitForEnd } from './detached-process.ts';
import { instanceNames } from './names.ts';
import { listFolder } from './observe-system.ts';
import type { Steps } from './ports.ts';
import { readBootId, signalProcess } from './process-table.ts';
import { removeEverything, type RemovalDeps, type RemovalResult } from './remove-everything.ts';

const ownerTimeoutMs = 60_000;

/** `tubelet down`: asks the process that runs the instance to end, then removes everything that is left. */
export async function takeDown(
  root: string,
  graceSeconds: number,
  steps: Steps,
  deps: RemovalDeps,
): Promise<RemovalResult> {
  const names = instanceNames(canonicalRoot(root));
  const journal = await loadJournal(names);
  const owner = livingOwner(journal, readBootId());
  if (owner !== undefined && journal?.ownerCleansUp === true && signalProcess(owner, 'SIGTERM')) {
    const ended = await steps.step(`stopping tubelet (process ${owner.pid})`, () =>
      waitForEnd([owner], deps.clock, ownerTimeoutMs),
    );
    if (!ended) signalProcess(owner, 'SIGKILL');
  }
  const result = await steps.step(`removing what is left in ${names.root}`, () =>
    removeEverything(names, deps, graceSeconds),
  );
  if (owner === undefined) return result;
  // The owner has removed the journal that contained the path.
  const manifests = journal?.manifests?.path ?? names.manifests;
  return { found: true, ...(listFolder(manifests).length > 0 ? { keptManifests: manifests } : {}) };
}
