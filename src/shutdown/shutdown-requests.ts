import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { isKind, messageOf } from '../base/errors.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Random } from '../base/random.ts';
import { Wakeup } from '../base/wakeup.ts';
import {
  answerName,
  maxRequestBytes,
  parseRequest,
  shutdownRequests,
  type ShutdownAnswer,
  type ShutdownRequest,
} from '../model/shutdown-request.ts';
import type { ShutdownProgress } from './node-shutdown.ts';
import { planLines, type PlannedGroup } from './plan.ts';
import type { ShutdownFiles } from './ports.ts';
import { addProgress } from './progress-lines.ts';

interface ShutdownRequestsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly files: ShutdownFiles;
  /** The agent's root folder. */
  readonly rootDir: string;
  readonly bootId: () => Promise<string>;
  readonly plan: () => readonly PlannedGroup[];
  /** All sources have been read: no pod that runs is unknown. */
  readonly complete: () => boolean;
  readonly onShutdown: (wanted: boolean) => void;
}

/** Where the folder cannot be watched it is read this often. */
const unwatchedMs = 5_000;
/** A plan waits this long for all sources; an API server may be away for long. */
const planWaitMs = 5_000;
const planPollMs = 200;

/**
 * Shutdowns by hand, where nothing else announces them: `tubelet shutdown` leaves a request in a folder that only root may
 * enter, and reads the answer beside it. A request outlives the agent, not the boot that it was made in.
 */
export class ShutdownRequests implements Component {
  readonly name = 'shutdown-requests';
  readonly #deps: ShutdownRequestsDeps;
  readonly #folder: string;
  readonly #stopped = new AbortController();
  readonly #changed = new Wakeup();
  #isChanged = true;
  #isWatched = false;
  #unwatch: () => void = () => {};
  #answer: ShutdownAnswer | undefined;
  #planned: { readonly id: string; readonly askedAt: number; readonly isAnswered: boolean } | undefined;
  #writing: Promise<void> = Promise.resolve();
  #loop: LoopHandle | undefined;

  constructor(deps: ShutdownRequestsDeps) {
    this.#deps = deps;
    this.#folder = `${deps.rootDir}/${shutdownRequests.folder}`;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats, files } = this.#deps;
    await files.makeFolder(this.#folder, shutdownRequests.folderMode);
    this.#watch();
    // A shutdown that is under way goes on before the first pod is admitted.
    await this.#read();
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(signal, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#unwatch();
    await this.#loop?.done;
    await this.#writing;
  }

  /** The shutdown has gone on, by whichever request. */
  progressed(progress: ShutdownProgress): void {
    if (this.#answer === undefined) return;
    const { id } = this.#answer;
    this.#answer = { id, ...addProgress(this.#answer, progress) };
    this.#write(shutdownRequests.request, this.#answer);
    if (this.#answer.end === 'calledOff') this.#answer = undefined;
  }

  #watch(): void {
    const { files, log } = this.#deps;
    const onChange = (): void => {
      this.#isChanged = true;
      this.#changed.wake();
    };
    const onError = (error: unknown): void => {
      this.#isWatched = false;
      log.warn('Requests to shut down are polled, because their folder cannot be watched', {
        path: this.#folder,
        err: messageOf(error),
      });
      onChange();
    };
    try {
      this.#unwatch = files.watch(this.#folder, onChange, onError);
      this.#isWatched = true;
    } catch (error) {
      onError(error);
    }
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const { clock } = this.#deps;
    if (this.#planned?.isAnswered === false) await round.waitFor(clock.sleep(planPollMs, signal));
    else if (!this.#isChanged) {
      await round.waitFor(this.#isWatched ? this.#changed.wait(signal) : clock.sleep(unwatchedMs, signal));
    }
    await this.#read();
  }

  async #read(): Promise<void> {
    this.#isChanged = false;
    await this.#readPlan();
    const asked = await this.#request(shutdownRequests.request);
    if (asked?.id === this.#answer?.id) return;
    if (asked === undefined) return this.#deps.onShutdown(false);
    this.#deps.log.info('The shutdown of the node was asked for by hand', { id: asked.id });
    this.#answer = { id: asked.id, lines: [] };
    this.#write(shutdownRequests.request, this.#answer);
    this.#deps.onShutdown(true);
  }

  async #readPlan(): Promise<void> {
    const { clock, plan, complete } = this.#deps;
    const asked = await this.#request(shutdownRequests.plan);
    if (asked === undefined) {
      this.#planned = undefined;
      return;
    }
    const { id } = asked;
    const askedAt = this.#planned?.id === id ? this.#planned.askedAt : clock.monotonic();
    const wasAnswered = this.#planned?.id === id && this.#planned.isAnswered;
    const isAnswered = wasAnswered || complete() || clock.monotonic() - askedAt >= planWaitMs;
    this.#planned = { id, askedAt, isAnswered };
    if (isAnswered && !wasAnswered) this.#write(shutdownRequests.plan, { id, lines: planLines(plan()), end: 'done' });
  }

  /** A request of this boot; what is no request is named and left. */
  async #request(name: string): Promise<ShutdownRequest | undefined> {
    const { files, log, bootId } = this.#deps;
    const path = `${this.#folder}/${name}`;
    let text: string;
    try {
      text = await files.read(path, maxRequestBytes);
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      throw error;
    }
    const request = parseRequest(text);
    if (request === undefined) log.warn('A request to shut down cannot be understood', { path });
    else if (request.bootId === (await bootId())) return request;
    else await files.remove(path);
    return undefined;
  }

  #write(request: string, answer: ShutdownAnswer): void {
    const { files, log } = this.#deps;
    const path = `${this.#folder}/${answerName(request)}`;
    this.#writing = this.#writing.then(async () => {
      try {
        await files.replace(path, JSON.stringify(answer), shutdownRequests.fileMode);
      } catch (error) {
        log.error(error, 'The answer to a request to shut down cannot be written', { path });
      }
    });
  }
}
