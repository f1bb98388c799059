import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { describeError, TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { listMounts } from './cgroups.ts';
import { loadJournal } from './claim-root.ts';
import { removePods, type PodChoice } from './cri-control.ts';
import { endProcess, waitForEnd } from './detached-process.ts';
import type { Journal } from './journal.ts';
import type { InstanceNames } from './names.ts';
import { listFolder, observeSystem } from './observe-system.ts';
import { classifyProcess, isBelow, planRemoval, type Removal } from './plan-removal.ts';
import type { RunCommand } from './ports.ts';
import { errnoOf, isAlive, listProcesses, readBootId, signalProcess, type ProcessInfo } from './process-table.ts';
import { programs } from './programs.ts';
import { removalRounds } from './removal-rounds.ts';

export interface RemovalDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly run: RunCommand;
}

export interface RemovalResult {
  /** Whether anything of the instance existed. */
  readonly found: boolean;
  /** The manifests folder, when the user has files in it. */
  readonly keptManifests?: string;
}

const agentTimeoutMs = 15_000;
const processTimeoutMs = 5_000;
const runtimeTimeoutMs = 20_000;

/**
 * Removes everything of the instance, whatever state it is in: first in order, through processes that still answer,
 * then by observing the machine and removing what is found until nothing is left. May be called again at any point.
 */
export async function removeEverything(
  names: InstanceNames,
  deps: RemovalDeps,
  graceSeconds: number,
): Promise<RemovalResult> {
  const journal = await loadJournal(names);
  await stopPolitely(names, journal, deps, graceSeconds);
  const seen = await removalRounds({
    clock: deps.clock,
    observe: async () => planRemoval(names, journal, await observeSystem(names, journal, deps.run)),
    carryOut: (plan) => carryOut(plan, deps),
    describe: describeRemoval,
  });
  const keptManifests = journal === undefined ? undefined : await removeRoot(names, journal);
  return { found: seen || journal !== undefined, ...(keptManifests === undefined ? {} : { keptManifests }) };
}

async function stopPolitely(
  names: InstanceNames,
  journal: Journal | undefined,
  deps: RemovalDeps,
  graceSeconds: number,
): Promise<void> {
  const living = listProcesses();
  const roleOf = (role: string): readonly ProcessInfo[] =>
    living.filter((process) => classifyProcess(names, process) === role);
  const agent = journal?.bootId === readBootId() ? journal.processes.agent : undefined;
  // A living agent would restart what is being stopped.
  for (const process of [...roleOf('agent'), ...(agent === undefined ? [] : [agent])]) {
    await endProcess(process, deps.clock, agentTimeoutMs);
  }
  const runtime = roleOf('containerd');
  if (runtime.length > 0) await askRuntime(names.socket, { graceSeconds }, deps);
  if (journal?.externalEndpoint !== undefined) {
    // In an external runtime only the pods that our agent has folders for are ours.
    const uids = new Set(listFolder(join(names.kubeletRoot, 'pods')));
    await askRuntime(journal.externalEndpoint.replace(/^unix:\/\//, ''), { graceSeconds, uids }, deps);
  }
  for (const process of runtime) await endProcess(process, deps.clock, processTimeoutMs);
}

async function askRuntime(socket: string, choice: PodChoice, deps: RemovalDeps): Promise<void> {
  try {
    const timeoutMs = choice.graceSeconds * 1000 + runtimeTimeoutMs;
    const count = await removePods(socket, choice, { clock: deps.clock, timeoutMs });
    deps.log.debug(2, 'Removed pods through the runtime', { count });
  } catch (error) {
    // It may be half dead; its pods are then removed by what is observed of them.
    deps.log.info('The container runtime could not remove its pods, they are removed without it', {
      err: describeError(error),
    });
  }
}

/** Answers what failed; a later observation decides whether it still matters. */
async function carryOut(plan: readonly Removal[], deps: RemovalDeps): Promise<readonly string[]> {
  const faults: string[] = [];
  const killed = plan.flatMap((removal) => (removal.kind === 'kill' ? [removal.process] : []));
  for (const removal of plan) {
    try {
      await carryOutOne(removal, deps);
    } catch (error) {
      faults.push(`${describeRemoval(removal)}: ${describeError(error)}`);
    }
  }
  if (killed.length > 0 && !(await waitForEnd(killed, deps.clock, processTimeoutMs))) {
    faults.push(...killed.filter(isAlive).map((process) => `process ${process.pid} does not end`));
  }
  return faults;
}

async function carryOutOne(removal: Removal, deps: RemovalDeps): Promise<void> {
  switch (removal.kind) {
    case 'kill':
      signalProcess(removal.process, 'SIGKILL');
      return;
    case 'unmount':
      return unmount(removal.path, deps.run);
    case 'deleteLink':
      await deps.run(programs.ip, ['link', 'delete', 'dev', removal.name]);
      return;
    case 'restoreIptables':
      await deps.run(programs.iptablesRestore, ['-w', '5', '--noflush'], { input: removal.input });
      return;
    case 'removeCgroup':
    case 'removeEmptyFolder':
      return forgiving(['ENOENT', 'ENOTEMPTY'], () => rmdir(removal.path));
    case 'removeFile':
      return forgiving(['ENOENT'], () => unlink(removal.path));
    case 'removeFolder':
      return removeFolder(removal.path);
  }
}

/** Detaches a mount that is in use at once; it vanishes with its last user. */
async function unmount(path: string, run: RunCommand): Promise<void> {
  try {
    await run(programs.umount, ['--no-canonicalize', path]);
  } catch {
    await run(programs.umount, ['--no-canonicalize', '--lazy', path]);
  }
}

/** Refuses while something is mounted below: files on a mount may belong to the user. */
async function removeFolder(path: string): Promise<void> {
  const mounted = listMounts().find((mount) => isBelow(mount.path, path));
  if (mounted !== undefined) throw new TubeletError('conflict', `${mounted.path} is still mounted`);
  await rm(path, { recursive: true, force: true });
}

/** The last step: sample, journal, root. Answers where the user's own manifests are. */
async function removeRoot(names: InstanceNames, journal: Journal): Promise<string | undefined> {
  if (journal.sample !== undefined && (await sha256Of(journal.sample.path)) === journal.sample.sha256) {
    await forgiving(['ENOENT'], () => unlink(journal.sample?.path ?? ''));
  }
  const manifests = journal.manifests?.path ?? names.manifests;
  if (journal.manifests?.made === true) {
    await forgiving(['ENOENT', 'ENOTEMPTY', 'EBUSY'], () => rmdir(manifests));
  }
  for (const path of [`${names.journal}.new`, names.journal]) await forgiving(['ENOENT'], () => unlink(path));
  await forgiving(['ENOENT', 'ENOTEMPTY', 'EBUSY'], () => rmdir(names.root));
  return existsSync(manifests) && (await readdir(manifests)).length > 0 ? manifests : undefined;
}

async function sha256Of(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

async function forgiving(codes: readonly string[], act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!codes.includes(errnoOf(error) ?? '')) throw error;
  }
}

function describeRemoval(removal: Removal): string {
  if (removal.kind === 'kill') return `process ${removal.process.pid} (${removal.what})`;
  if (removal.kind === 'deleteLink') return `interface ${removal.name}`;
  if (removal.kind === 'restoreIptables') return 'iptables rules';
  if (removal.kind === 'unmount') return `mount ${removal.path}`;
  return removal.kind === 'removeCgroup' ? `cgroup ${removal.path}` : removal.path;
}
