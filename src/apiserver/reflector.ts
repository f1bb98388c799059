import { linkedSignal, raceAbort, type LinkedSignal } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { describeError, TubeletError } from '../base/errors.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import { jitter, type Random } from '../base/random.ts';
import type { ApiObject, ApiReader, Mirror, MirrorChange, ObjectRef } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';
import { errorOfStatus } from './api-error.ts';
import { MirrorStore, type Transform } from './mirror-store.ts';
import type { ApiWatcher, WatchEvent } from './ports.ts';
import { isOlder, stepAfter, WentBackwards, type WatchEnding } from './watch-ending.ts';
import { WatchSilence } from './watch-silence.ts';

export interface ReflectorDeps<T extends ApiObject> {
  readonly api: Pick<ApiReader, 'list'> & ApiWatcher;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly resource: ApiResource;
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /**
   * What to keep of an object, for instance `withoutManagedFields`. May change the object it is given. It may be called
   * again with its own result, and then must return the same.
   */
  readonly transform?: Transform<T>;
}

type MirrorListener<T extends ApiObject> = (change: MirrorChange<T>) => void;

const firstDelayMs = 800;
const maxDelayMs = 30_000;
const delayJitter = 0.5;
const watchSeconds = 300;
/** A watch that lived so long shows that the server is healthy. */
const healthyMs = 10_000;

/**
 * Mirrors the objects of one kind by listing once and watching from there, for ever.
 *
 *   list ──> watch ──ends normally──> watch …
 *    ^         │ 410, garbage, silence, broken connection
 *    └─────────┘ after a back-off
 */
export class Reflector<T extends ApiObject> implements Component, Mirror<T> {
  readonly name: string;
  readonly #deps: ReflectorDeps<T>;
  readonly #store: MirrorStore<T>;
  readonly #listeners = new Set<MirrorListener<T>>();
  #life: LinkedSignal | undefined;
  #loop: LoopHandle | undefined;
  #synced = false;
  /** The version up to which everything is known. */
  #version = '';
  /** The version to list from, when a list is needed before the next watch: `0` any, '' the newest. */
  #listFrom: string | undefined = '0';
  #delayMs = firstDelayMs;
  #failing = false;
  #lastError: string | undefined;
  /** A list was requested without a pause, and no event has arrived since. */
  #rushed = false;
  #interrupt: (() => void) | undefined;

  constructor(deps: ReflectorDeps<T>) {
    const selector = deps.fieldSelector ?? deps.labelSelector;
    this.name = `reflector of ${deps.resource.plural}${selector === undefined ? '' : ` with ${selector}`}`;
    this.#deps = deps;
    this.#store = new MirrorStore(deps.transform);
  }

  /** Returns at once, whether or not the server is available: `synced` shows that. */
  async start(signal: AbortSignal): Promise<void> {
    const { clock, log, random, heartbeats } = this.#deps;
    this.#life = linkedSignal(signal);
    const body = (ending: AbortSignal, round: Round): Promise<void> => this.#round(ending, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, log, random, signal: this.#life.signal, body });
  }

  async stop(): Promise<void> {
    this.#life?.abort(new TubeletError('cancelled', `the ${this.name} stops`));
    await this.#loop?.done;
  }

  synced(): boolean {
    return this.#synced;
  }

  /** Why the last list or watch failed, until one succeeds. */
  lastError(): string | undefined {
    return this.#lastError;
  }

  get(ref: ObjectRef): T | undefined {
    return this.#store.get(ref);
  }

  all(): readonly T[] {
    return this.#store.all();
  }

  /** Reports every change from now on, beginning with `replaced` when the mirror is already filled. */
  listen(listener: MirrorListener<T>): () => void {
    this.#listeners.add(listener);
    if (this.#synced) this.#notify(listener, { type: 'replaced' });
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with the first list; rejects with the signal's reason. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    if (this.#synced) return;
    let stopListening: (() => void) | undefined;
    const arrived = new Promise<void>((resolve) => {
      stopListening = this.listen(() => resolve());
    });
    try {
      await raceAbort(arrived, signal);
    } finally {
      stopListening?.();
    }
  }

  /** A caller has seen evidence that contradicts the mirror: list again, now. */
  doubt(): void {
    this.#listFrom ??= this.#version;
    this.#interrupt?.();
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const ending = await this.#listAndWatch(signal, round);
    if (signal.aborted || ending === undefined) return;
    const step = stepAfter(ending);
    if (step.reset) this.#deps.api.reset();
    // A list that was due and did not happen stays due.
    if (step.from === 'newestList') this.#listFrom = '';
    else if (step.from === 'list') this.#listFrom ??= this.#version;

    const pause = step.backOff || this.#rushed;
    this.#rushed = step.from !== 'watch' && !pause;
    if (!pause) return;
    const delayMs = jitter(this.#deps.random, this.#delayMs, delayJitter);
    this.#delayMs = Math.min(this.#delayMs * 2, maxDelayMs);
    this.#noteFailure(ending, delayMs);
    await round.waitFor(this.#deps.clock.sleep(delayMs, signal));
  }

  /** Undefined when `doubt` ended it: then its end shows nothing. */
  async #listAndWatch(signal: AbortSignal, round: Round): Promise<WatchEnding | undefined> {
    const { clock } = this.#deps;
    const linked = linkedSignal(signal);
    let interrupted: 'stale' | 'doubted' | undefined;
    this.#interrupt = () => {
      interrupted = 'doubted';
      linked.abort(new TubeletError('cancelled', 'the mirror is in doubt'));
    };
    const onSilence = (): void => {
      interrupted = 'stale';
      linked.abort(new TubeletError('unavailable', 'nothing came from a watch for too long'));
    };
    try {
      if (this.#listFrom !== undefined) await this.#list(this.#listFrom, linked.signal);
      const began = clock.monotonic();
      await round.waitFor(this.#watch(linked.signal, onSilence));
      const livedMs = clock.monotonic() - began;
      if (livedMs >= healthyMs) this.#isHealthy();
      return interrupted === 'doubted' ? undefined : { how: 'ended', livedMs };
    } catch (error) {
      if (interrupted === 'doubted') return undefined;
      return interrupted === 'stale' ? { how: 'stale' } : { how: 'failed', error };
    } finally {
      this.#interrupt = undefined;
      linked.release();
    }
  }

  async #list(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { api, resource, log } = this.#deps;
    const keep = (item: T): T => this.#store.kept(item);
    const { metadata, items } = await api.list<T>(resource, { ...this.#scope(), resourceVersion, keep, signal });
    // The answer to an abandoned request would overwrite newer state.
    signal.throwIfAborted();
    const { resourceVersion: version = '' } = metadata;
    if (version === '') throw new TubeletError('unavailable', `the list of ${resource.plural} has no resourceVersion`);
    if (isOlder(version, this.#version)) {
      log.warn('API server went back to an older store; what it has now counts', {
        resource: resource.plural,
        from: this.#version,
        to: version,
      });
    }
    this.#version = version;
    this.#listFrom = undefined;
    this.#synced = true;
    this.#lastError = undefined;
    this.#notifyAll(this.#store.replace(items));
  }

  async #watch(signal: AbortSignal, onSilence: () => void): Promise<void> {
    const { api, clock, random, resource } = this.#deps;
    // Spread, so that the watches of many nodes do not end together.
    const timeoutSeconds = Math.round(jitter(random, watchSeconds, 1));
    const silence = new WatchSilence(clock, timeoutSeconds, onSilence);
    try {
      const request = { ...this.#scope(), resourceVersion: this.#version, timeoutSeconds, signal };
      for await (const events of await api.watch<T>(resource, request)) {
        silence.heard();
        for (const event of events) {
          if (event.type === 'BOOKMARK') silence.bookmarked();
          this.#take(event);
          this.#isHealthy();
        }
      }
    } finally {
      silence.stop();
    }
  }

  #take(event: WatchEvent<T>): void {
    const { plural } = this.#deps.resource;
    if (event.type === 'ERROR') throw errorOfStatus(`WATCH ${plural}`, event.object);
    const version = event.object.metadata?.resourceVersion ?? '';
    if (isOlder(version, this.#version)) throw new WentBackwards(this.#version, version);
    // Updated before the listeners run, because they may ask for a list.
    this.#version = version;
    if (event.type === 'DELETED') this.#notifyAll(this.#store.remove(event.object));
    else if (event.type !== 'BOOKMARK') this.#notifyAll(this.#store.put(event.object));
  }

  #scope(): { readonly namespace?: string; readonly fieldSelector?: string; readonly labelSelector?: string } {
    const { namespace, fieldSelector, labelSelector } = this.#deps;
    return {
      ...(namespace !== undefined && { namespace }),
      ...(fieldSelector !== undefined && { fieldSelector }),
      ...(labelSelector !== undefined && { labelSelector }),
    };
  }

  #notifyAll(changes: readonly MirrorChange<T>[]): void {
    for (const change of changes) for (const listener of this.#listeners) this.#notify(listener, change);
  }

  /** A listener that fails must not keep a change from the others, nor from the mirror. */
  #notify(listener: MirrorListener<T>, change: MirrorChange<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#deps.log.error(error, 'Listener of a mirror failed', { resource: this.#deps.resource.plural });
    }
  }

  #isHealthy(): void {
    this.#delayMs = firstDelayMs;
    this.#rushed = false;
    if (!this.#failing) return;
    this.#failing = false;
    this.#deps.log.info('Watching again', { resource: this.#deps.resource.plural });
  }

  /** Logs an outage once for each mirror, not for each try. */
  #noteFailure(ending: WatchEnding, delayMs: number): void {
    const why = ending.how === 'failed' ? describeError(ending.error) : ending.how;
    this.#lastError = why;
    const fields = { resource: this.#deps.resource.plural, err: why, retryInMs: Math.round(delayMs) };
    if (this.#failing) this.#deps.log.debug(3, 'Watch failed again', fields);
    else this.#deps.log.warn('Watch failed and will be tried again', fields);
    this.#failing = true;
  }
}
