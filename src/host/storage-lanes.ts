import type { CancelTimer, Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { hangText, type ForeignMount } from './foreign-mounts.ts';
import type { MountEntry } from './mountinfo.ts';
import type { StorageAnswer, StorageVerb } from './storage-messages.ts';
import { StorageProcesses, type StartStorageProcess } from './storage-processes.ts';

/** Which calls wait for each other, and for how long before the mount counts as hung. */
export type StorageLaneKind = 'lookup' | 'unmount' | 'tree';

export interface StorageWork {
  /** The mounts on the way, outermost first, at least one: a hung one of them blocks the call. */
  readonly chain: readonly [ForeignMount, ...ForeignMount[]];
  readonly kind: StorageLaneKind;
  /** The path for messages. */
  readonly shown: string;
  readonly verb: StorageVerb;
  readonly args: readonly unknown[];
  readonly path?: string;
  readonly signal?: AbortSignal | undefined;
  readonly processed?: ((entries: number) => void) | undefined;
}

export type StorageOutcome = { readonly value: unknown } | { readonly crossing: readonly ForeignMount[] };

interface StorageLanesDeps {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  readonly start: StartStorageProcess;
  readonly mounts: () => readonly MountEntry[];
  /** Devices that the other process may enter as freely as this one. */
  readonly own: () => ReadonlySet<string>;
  /** Called when a mount that hung answers again, or has been unmounted. */
  readonly onAnswer: () => void;
}

/**
 * After this time a call counts as hung: a lookup; an unmount, which flushes a file system; the next 256 entries of a
 * tree.
 */
const limitMs = { lookup: 5_000, unmount: 60_000, tree: 60_000 };
/** For a tree whose caller has given up. */
const abortedMs = 5_000;
/** Limits of mounts with a running call, hung ones included, and of trees among them: each may occupy many threads. */
const maxLanes = 48;
const maxTrees = 4;
/** Calls that wait for one mount. */
const maxWaiting = 1_024;
const sweepMs = 10_000;

interface StorageCall {
  readonly id: number;
  readonly work: StorageWork;
  readonly resolve: (outcome: StorageOutcome) => void;
  readonly reject: (error: unknown) => void;
  cancelTimer?: CancelTimer | undefined;
  onAbort?: (() => void) | undefined;
}

interface StorageLane {
  readonly key: string;
  readonly mount: ForeignMount;
  readonly waiting: StorageCall[];
  running?: StorageCall | undefined;
  isHung: boolean;
}

/**
 * Calls on mounts that may hang, one at a time for each mount, in another process:
 *
 *   idle ──call──> asking ──answer──> idle
 *                    │ too long: all waiting and all new calls are refused
 *                    v
 *                  hung ──answer, unmounted, process ended──> idle
 *
 * The call that hangs keeps running: its late answer shows that the storage is back, and no second call is made on a mount
 * before the first one has ended.
 */
export class StorageLanes {
  readonly #deps: StorageLanesDeps;
  readonly #lanes = new Map<string, StorageLane>();
  readonly #byCall = new Map<number, StorageLane>();
  readonly #processes: StorageProcesses;
  #lastId = 0;
  #cancelSweep: CancelTimer | undefined;

  constructor(deps: StorageLanesDeps) {
    this.#deps = deps;
    this.#processes = new StorageProcesses({
      log: deps.log,
      start: deps.start,
      onAnswer: (answer) => this.#answered(answer),
      onLost: (ids, how) => this.#lost(ids, how),
    });
  }

  run(work: StorageWork): Promise<StorageOutcome> {
    return new Promise((resolve, reject) => {
      const refusal = this.#refusal(work);
      if (refusal !== undefined) return reject(refusal);
      const mount = work.chain.at(-1) ?? work.chain[0];
      const key = keyOf(work.kind, mount);
      const lane = this.#lanes.get(key) ?? { key, mount, waiting: [], isHung: false };
      this.#lanes.set(key, lane);
      lane.waiting.push({ id: ++this.#lastId, work, resolve, reject });
      return this.#next(lane);
    });
  }

  /** A call that needs no lane, because it asks no file system. */
  post(verb: 'close', args: readonly [handle: number]): void {
    this.#processes.post({ id: 0, verb, args, cleared: [] });
  }

  hung(): readonly ForeignMount[] {
    return [...this.#lanes.values()].filter(({ isHung }) => isHung).map(({ mount }) => mount);
  }

  stop(): void {
    this.#cancelSweep?.();
    this.#processes.stop();
  }

  #refusal({ chain, kind, shown }: StorageWork): TubeletError | undefined {
    const unavailable = (message: string): TubeletError => new TubeletError('unavailable', message);
    const isHung = (mount: ForeignMount): boolean => this.#lanes.get(keyOf('lookup', mount))?.isHung === true;
    // A mount that hangs for lookups may be unmounted all the same.
    const hung = kind === 'unmount' ? undefined : chain.find(isHung);
    if (hung !== undefined) return unavailable(hangText(shown, hung));
    const lane = this.#lanes.get(keyOf(kind, chain.at(-1) ?? chain[0]));
    if (lane?.isHung === true) return unavailable(hangText(shown, lane.mount));
    if ((lane?.waiting.length ?? 0) >= maxWaiting) {
      return unavailable(`${shown}: ${maxWaiting} others wait for the same file system`);
    }
    const trees = kind === 'tree' ? [...this.#lanes.keys()].filter((key) => key.startsWith('tree ')).length : 0;
    if (lane !== undefined || (this.#lanes.size < maxLanes && trees < maxTrees)) return undefined;
    this.#processes.replace(this.#asked());
    const points = this.hung().map(({ mountPoint }) => mountPoint);
    return unavailable(`${shown}: too many file systems do not answer: ${points.join(', ')}`);
  }

  #next(lane: StorageLane): void {
    if (lane.running !== undefined) return;
    const call = lane.waiting.shift();
    if (call === undefined) {
      this.#lanes.delete(lane.key);
      return;
    }
    const { id, work } = call;
    const { verb, args, path, kind, signal } = work;
    lane.running = call;
    this.#byCall.set(id, lane);
    const cleared = [...this.#deps.own(), ...work.chain.map(({ device }) => device)];
    this.#processes.ask({ id, verb, args, cleared, ...(path !== undefined && { path }) });
    this.#limit(lane, call, limitMs[kind]);
    if (signal === undefined) return;
    call.onAbort = (): void => {
      this.#processes.post({ abort: id });
      this.#limit(lane, call, abortedMs);
    };
    if (signal.aborted) call.onAbort();
    else signal.addEventListener('abort', call.onAbort, { once: true });
  }

  #limit(lane: StorageLane, call: StorageCall, ms: number): void {
    call.cancelTimer?.();
    call.cancelTimer = this.#deps.clock.after(ms, () => this.#hangs(lane, call));
  }

  #hangs(lane: StorageLane, call: StorageCall): void {
    const { mountPoint, fsType, source } = lane.mount;
    lane.isHung = true;
    this.#deps.log.warn('A file system does not answer', { mountPoint, fsType, source, call: call.work.verb });
    for (const refused of [call, ...lane.waiting.splice(0)]) {
      letGo(refused);
      refused.reject(new TubeletError('unavailable', hangText(refused.work.shown, lane.mount)));
    }
    this.#sweepLater();
  }

  #answered(answer: StorageAnswer): void {
    const lane = this.#byCall.get(answer.id);
    const call = lane?.running;
    if (lane === undefined || call === undefined) return;
    if ('processed' in answer) {
      call.work.processed?.(answer.processed);
      if (call.work.signal?.aborted !== true && !lane.isHung) this.#limit(lane, call, limitMs[call.work.kind]);
      return;
    }
    this.#ended(lane, call);
    if ('failed' in answer) call.reject(new TubeletError(answer.failed.kind, answer.failed.message));
    else if ('crossing' in answer) call.resolve({ crossing: answer.crossing });
    else call.resolve({ value: answer.value });
    this.#next(lane);
  }

  #lost(ids: readonly number[], how: string): void {
    for (const id of ids) {
      const lane = this.#byCall.get(id);
      const call = lane?.running;
      if (lane === undefined || call === undefined) continue;
      this.#ended(lane, call);
      call.reject(new TubeletError('unavailable', `${call.work.shown}: the process that asked ended: ${how}`));
      this.#next(lane);
    }
  }

  /** Callers that were refused meanwhile do not get the result: they only learn that a retry is worthwhile. */
  #ended(lane: StorageLane, call: StorageCall): void {
    letGo(call);
    this.#byCall.delete(call.id);
    lane.running = undefined;
    if (!lane.isHung) return;
    lane.isHung = false;
    const { mountPoint, fsType, source } = lane.mount;
    this.#deps.log.info('A file system is asked again', { mountPoint, fsType, source });
    this.#deps.onAnswer();
  }

  #sweepLater(): void {
    this.#cancelSweep ??= this.#deps.clock.after(sweepMs, () => {
      this.#cancelSweep = undefined;
      const present = new Set(this.#deps.mounts().map(({ device }) => device));
      const hung = this.hung();
      // After a lazy unmount, processes that still wait for it keep it alive.
      if (hung.some(({ device, fsType }) => fsType !== 'process' && !present.has(device))) {
        this.#processes.replace(this.#asked());
      }
      if (hung.length > 0) this.#sweepLater();
    });
  }

  /** Calls whose callers still wait. */
  #asked(): readonly number[] {
    return [...this.#byCall].filter(([, { isHung }]) => !isHung).map(([id]) => id);
  }
}

const keyOf = (kind: StorageLaneKind, { device }: ForeignMount): string => `${kind} ${device}`;

function letGo(call: StorageCall): void {
  call.cancelTimer?.();
  if (call.onAbort !== undefined) call.work.signal?.removeEventListener('abort', call.onAbort);
}
