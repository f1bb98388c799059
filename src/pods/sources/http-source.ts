import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { describeError, TubeletError } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import { seenTime } from '../../model/annotations.ts';
import type { DesiredPod, PodSource } from '../../model/desired-pod.ts';
import { podListFields } from '../../model/pod-log.ts';
import type { PodRules } from '../../model/validation/index.ts';
import { fetchManifest, shownUrl } from './fetch-manifest.ts';
import { classifyAnswer, initialUrlState, type UrlState } from './classify-answer.ts';
import type { Manifest } from './manifest.ts';
import type { HttpClient, HttpHeaders } from './ports.ts';
import { readManifest } from './read-manifest.ts';
import { reportManifest } from './report-file.ts';

interface HttpSourceDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly client: HttpClient;
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly nodeName: string;
  readonly httpCheckFrequencyMs: number;
  /** Feature gate PreventStaticPodAPIReferences. */
  readonly preventApiReferences: boolean;
  readonly rules: PodRules;
  /** Gets the complete set, first after the first answer that can be used and then whenever it changed. */
  readonly onSet: (source: PodSource, pods: readonly DesiredPod[]) => void;
}

const minPollMs = 1_000;

/** The pods that a URL serves, fetched at intervals. */
export class HttpSource implements Component {
  readonly name = 'http-source';
  readonly #deps: HttpSourceDeps;
  /** The URL without what may be secret in it. */
  readonly #shown: string;
  readonly #stopped = new AbortController();
  #state: UrlState = initialUrlState;
  /** Why the last fetch failed, if it did: logged when it changes, not at every attempt. */
  #failure: string | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: HttpSourceDeps) {
    this.#deps = deps;
    this.#shown = shownUrl(deps.url);
  }

  /** Returns at once: a server far away must not delay the node. Until it answers, the source counts as not read. */
  async start(signal: AbortSignal): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    log.debug(1, 'Watching URL', { url: this.#shown });
    if (signal.aborted) this.#stopped.abort();
    signal.addEventListener('abort', () => this.#stopped.abort(), { once: true, signal: this.#stopped.signal });
    const body = (stopped: AbortSignal, round: Round): Promise<void> => this.#round(stopped, round);
    this.#loop = superviseLoop({
      name: this.name,
      heartbeats,
      carriesPods: true,
      clock,
      random,
      log,
      signal: this.#stopped.signal,
      body,
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const { clock, httpCheckFrequencyMs } = this.#deps;
    await this.#reconcile(signal);
    await round.waitFor(clock.sleep(Math.max(minPollMs, httpCheckFrequencyMs), signal));
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const { client, clock, url, headers } = this.#deps;
    let body: Uint8Array;
    try {
      body = await fetchManifest({ client, clock, url, headers, signal });
    } catch (error) {
      if (!signal.aborted) this.#reportFailure(error);
      return;
    }
    if (signal.aborted) return;
    const before = this.#state;
    this.#state = classifyAnswer(before, body, (text) => this.#read(text));
    if (body.length === 0) this.#reportFailure(new TubeletError('invalid', 'the body is empty'));
    else this.#reportAnswer(before);
    if (this.#state.pods !== before.pods) this.#publish();
  }

  #read(text: string): Manifest {
    const { clock, url, nodeName, preventApiReferences, rules } = this.#deps;
    const seen = seenTime(clock.now());
    return readManifest(text, { source: 'http', origin: url, nodeName, seen, preventApiReferences, rules });
  }

  #reportFailure(error: unknown): void {
    const failure = describeError(error);
    if (failure === this.#failure) return;
    this.#failure = failure;
    this.#deps.log.error(error, 'Cannot read pods from the URL, keeping the pods as they are', {
      url: this.#shown,
      ...podListFields(this.#state.pods ?? []),
    });
  }

  #reportAnswer(before: UrlState): void {
    const { log } = this.#deps;
    const { manifest, kept } = this.#state;
    if (this.#failure !== undefined) log.info('The URL answers again', { url: this.#shown });
    this.#failure = undefined;
    if (manifest === undefined || manifest === before.manifest) return;
    reportManifest(log, this.#shown, manifest, { pods: kept, objects: [] });
  }

  #publish(): void {
    const { log, onSet } = this.#deps;
    try {
      onSet('http', this.#state.pods ?? []);
    } catch (error) {
      log.error(error, 'The set of static pods was not taken');
    }
  }
}
