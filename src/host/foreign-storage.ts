import { readlinkSync, realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { reportedCall, type Calls } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { TubeletError } from '../base/errors.ts';
import { Limiter } from '../base/limiter.ts';
import type { Log } from '../base/log.ts';
import { isAtOrAbove, isForeign, ownDevices, type ForeignMount } from './foreign-mounts.ts';
import { locateMount } from './locate-mount.ts';
import { mountsAtOrBelow, readMountInfo, type MountEntry } from './mountinfo.ts';
import { stat } from './path-handle.ts';
import { StorageLanes, type StorageLaneKind, type StorageWork } from './storage-lanes.ts';
import type { HeldPath, StorageCalls, StorageVerb } from './storage-messages.ts';
import { startStorageProcess } from './storage-process.ts';
import type { StartStorageProcess } from './storage-processes.ts';

interface ForeignStorageDeps {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  readonly log: Log;
  /** The agent's own folder. */
  readonly rootDir: string;
  /** Called when storage that did not answer may be tried again. */
  readonly onAnswer: () => void;
  /** Records calls on storage that may hang, while they are running. */
  readonly calls: Calls;
  readonly mounts?: () => readonly MountEntry[];
  readonly start?: StartStorageProcess;
}

/** What a call needs beside its arguments. */
interface StorageCallOptions {
  readonly kind?: StorageLaneKind;
  readonly signal?: AbortSignal;
  readonly processed?: ((entries: number) => void) | undefined;
}

/** Of the sixteen threads that do the agent's own file operations. */
const maxDirect = 6;
const maxTrees = 2;
const recentMs = 1_000;
/** Links from one foreign mount into the next. */
const maxCrossings = 8;
const ownDescriptor = /^\/proc\/self\/fd\/\d+(?:\/\.)?$/;

type Verbs = { readonly [Verb in StorageVerb]: Parameters<StorageCalls[Verb]> };
type Outcomes = { readonly [Verb in StorageVerb]: Awaited<ReturnType<StorageCalls[Verb]>> };

/**
 * Decides where a call on a path that tenants choose is made: in this process if the whole way there is on file systems
 * that answer or without which the agent cannot run anyway; otherwise in another process, where a call that hangs
 * blocks only the calls on the same mount. See docs/adr/0008-foreign-storage.md.
 */
export class ForeignStorage implements Component {
  readonly name = 'foreign-storage';
  readonly #deps: ForeignStorageDeps;
  readonly #lanes: StorageLanes;
  readonly #direct = new Limiter(maxDirect);
  readonly #trees = new Limiter(maxTrees);
  /** Paths that the other process holds open, by the path that names them here. */
  readonly #held = new Map<string, readonly [ForeignMount, ...ForeignMount[]]>();
  #own: ReadonlySet<string> | undefined;
  #realRoot: string | undefined;
  #recent: { readonly atMs: number; readonly foreign: readonly ForeignMount[] } | undefined;

  constructor(deps: ForeignStorageDeps) {
    this.#deps = deps;
    this.#lanes = new StorageLanes({
      ...deps,
      start: deps.start ?? startStorageProcess,
      mounts: () => this.#mounts(),
      own: () => this.#ownDevices(),
    });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#lanes.stop();
  }

  /** Makes a call on a path after resolving its way; `direct` makes it here. */
  async at<Verb extends StorageVerb>(
    path: string,
    verb: Verb,
    args: Verbs[Verb],
    direct: () => Promise<Outcomes[Verb]>,
    options: StorageCallOptions = {},
  ): Promise<Outcomes[Verb]> {
    if (options.kind === 'tree') return this.#onTree(path, verb, args, direct, options);
    if (ownDescriptor.test(path)) return this.#direct.run(direct, options.signal);
    const held = this.#held.get(path.replace(/\/\.$/, ''));
    const chain = held ?? (await this.#direct.run(() => this.#locate(path), options.signal));
    if (!hasOne(chain)) return this.#direct.run(direct, options.signal);
    return this.#ask({ chain, shown: path, ...(held === undefined && { path }) }, verb, args, options);
  }

  /** The same for everything below a path: a pod may have mounted something there that is visible here. */
  async #onTree<Verb extends StorageVerb>(
    path: string,
    verb: Verb,
    args: Verbs[Verb],
    direct: () => Promise<Outcomes[Verb]>,
    options: StorageCallOptions,
  ): Promise<Outcomes[Verb]> {
    const isOpen = ownDescriptor.test(path);
    const held = this.#held.get(path.replace(/\/\.$/, ''));
    const way = held ?? (isOpen ? [] : await this.#direct.run(() => this.#locate(path), options.signal));
    const chain = hasOne(way) ? way : await this.#foreignBelow(path, isOpen);
    if (!hasOne(chain)) return this.#direct.run(direct, options.signal);
    const [, ...rest] = args as readonly unknown[];
    const shown = isOpen ? path.replace('self', String(process.pid)) : path;
    return this.#ask({ chain, shown: path }, verb, [shown, ...rest] as unknown as Verbs[Verb], options);
  }

  async #foreignBelow(path: string, isOpen: boolean): Promise<readonly ForeignMount[]> {
    const real = isOpen ? readlinkSync(path.replace(/\/\.$/, '')) : await realpath(path).catch(() => path);
    return mountsAtOrBelow(this.#mounts(), real).filter((mount) => this.#isForeign(mount));
  }

  /** Makes a call on the last of some mounts, as far as they are foreign. */
  async on<Verb extends StorageVerb>(
    mounts: readonly MountEntry[],
    shown: string,
    verb: Verb,
    args: Verbs[Verb],
    direct: () => Promise<Outcomes[Verb]>,
    options: StorageCallOptions = {},
  ): Promise<Outcomes[Verb]> {
    const chain = mounts.filter((mount) => this.#isForeign(mount));
    if (!hasOne(chain)) return this.#direct.run(direct, options.signal);
    return this.#ask({ chain, shown }, verb, args, options);
  }

  /** Opens a path in the other process; undefined where it may be opened in this one. */
  async open(volumePath: string, subPath: string): Promise<HeldPath | undefined> {
    const path = `${volumePath}/${subPath}`;
    const found = await this.#direct.run(() => this.#locate(path));
    if (!hasOne(found)) return undefined;
    const where = { chain: found, shown: path, path };
    const { chain, value } = await this.#askThrough(where, 'openBelow', [volumePath, subPath], {});
    const open = value as HeldPath;
    this.#held.set(open.source, chain);
    return open;
  }

  async isAt({ handle, source }: HeldPath, path: string): Promise<boolean> {
    const chain = this.#held.get(source);
    if (chain === undefined) throw new TubeletError('internal', `${source} is not open any more`);
    return this.#ask({ chain, shown: path }, 'isAt', [handle, path], {});
  }

  close({ handle, source }: HeldPath): void {
    this.#held.delete(source);
    this.#lanes.post('close', [handle]);
  }

  /**
   * Whether a path leads into a mount that may hang; if so, it has answered right now. One that does not is an error.
   */
  async probe(path: string): Promise<boolean> {
    if (!hasOne(await this.#direct.run(() => this.#locate(path)))) return false;
    await this.at(path, 'stat', [path], () => stat(path));
    return true;
  }

  /**
   * Answers from a recent table of mounts, for a path without links except those of the agent's own folder: usage of
   * many volumes is requested at once.
   */
  isForeign(path: string): boolean {
    const { rootDir } = this.#deps;
    const real = isAtOrAbove(rootDir, path) ? this.#root() + path.slice(rootDir.length) : path;
    const nowMs = this.#deps.clock.monotonic();
    if (this.#recent === undefined || nowMs - this.#recent.atMs > recentMs) {
      const foreign = this.#mounts().filter((mount) => this.#isForeign(mount));
      this.#recent = { atMs: nowMs, foreign };
    }
    return this.#recent.foreign.some(({ mountPoint }) => isAtOrAbove(mountPoint, real));
  }

  /** The mounts that do not answer at the moment. */
  hung(): readonly ForeignMount[] {
    return this.#lanes.hung();
  }

  async #ask<Verb extends StorageVerb>(
    where: Pick<StorageWork, 'chain' | 'shown' | 'path'>,
    verb: Verb,
    args: Verbs[Verb],
    options: StorageCallOptions,
  ): Promise<Outcomes[Verb]> {
    const ask = async (): Promise<Outcomes[Verb]> =>
      (await this.#askThrough(where, verb, args, options)).value as Outcomes[Verb];
    return options.kind === 'tree' ? this.#trees.run(ask, options.signal) : ask();
  }

  #askThrough(
    where: Pick<StorageWork, 'chain' | 'shown' | 'path'>,
    verb: StorageVerb,
    args: readonly unknown[],
    options: StorageCallOptions,
  ): Promise<{ readonly chain: StorageWork['chain']; readonly value: unknown }> {
    const { calls } = this.#deps;
    const call = { system: 'storage', verb, subject: where.shown } as const;
    return reportedCall(calls, call, () => this.#askThroughLinks(where, verb, args, options));
  }

  /** A link may lead from one foreign mount into another: then the call waits in the lane of the second. */
  async #askThroughLinks(
    where: Pick<StorageWork, 'chain' | 'shown' | 'path'>,
    verb: StorageVerb,
    args: readonly unknown[],
    { kind = 'lookup', signal, processed }: StorageCallOptions,
  ): Promise<{ readonly chain: StorageWork['chain']; readonly value: unknown }> {
    let { chain } = where;
    for (let crossings = 0; crossings <= maxCrossings; crossings++) {
      const outcome = await this.#lanes.run({ ...where, chain, kind, verb, args, signal, processed });
      if ('value' in outcome) return { chain, value: outcome.value };
      chain = [...chain, ...outcome.crossing];
    }
    throw new TubeletError('invalid', `${where.shown} leads through more than ${maxCrossings} file systems`);
  }

  #locate(path: string): Promise<readonly ForeignMount[]> {
    return locateMount(path, { mounts: this.#mounts(), mayEnter: (mount) => !this.#isForeign(mount) });
  }

  #isForeign(mount: ForeignMount): boolean {
    return isForeign(mount, this.#ownDevices());
  }

  #ownDevices(): ReadonlySet<string> {
    this.#own ??= ownDevices(this.#mounts(), ['/', this.#root()]);
    return this.#own;
  }

  #root(): string {
    this.#realRoot ??= realpathSync(this.#deps.rootDir);
    return this.#realRoot;
  }

  #mounts(): readonly MountEntry[] {
    return (this.#deps.mounts ?? readMountInfo)();
  }
}

function hasOne<T>(list: readonly T[]): list is readonly [T, ...T[]] {
  return list.length > 0;
}
