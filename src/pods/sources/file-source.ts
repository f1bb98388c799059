import { resolve } from 'node:path';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { DesiredPod, PodSource } from '../../model/desired-pod.ts';
import type { StandaloneObject } from '../../model/standalone-object.ts';
import { defaultPodRules, type PodRules } from '../../model/validation/index.ts';
import { RecentEvents } from './entry-events.ts';
import { lookAgainMs } from './judge-file.ts';
import { ManifestFiles, type LookOutcome } from './manifest-files.ts';
import { PathWatch } from './path-watch.ts';
import type { Files, OnPathChange } from './ports.ts';

export interface FileSourceDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Files;
  /** A folder of manifests or one manifest file; it may come later. */
  readonly path: string;
  readonly nodeName: string;
  /** How often to look without being told. */
  readonly fileCheckFrequencyMs: number;
  /** Feature gate PreventStaticPodAPIReferences; on unless said otherwise. */
  readonly preventApiReferences?: boolean;
  /** Take ConfigMaps and Secrets from the folder, and let its pods refer to them. For a node without an API server. */
  readonly allowFolderObjects?: boolean;
  readonly rules?: PodRules;
  /** Gets all ConfigMaps and Secrets of the folder, whenever they changed, before the pods that may need them. */
  readonly onObjects?: (objects: readonly StandaloneObject[]) => void;
  /** Gets the complete set, first after the first look and then whenever it changed. */
  readonly onSet: (source: PodSource, pods: readonly DesiredPod[]) => void;
}

/** A write comes as several events; those of one moment are worth one look. */
const gatherMs = 1;
const leastPollMs = 1_000;

/**
 * The pods of the node's own folder. Events of the file system, the slow poll and doubts about a file are all just
 * reasons to look; a look reads what changed and tells the whole set.
 */
export class FileSource implements Component {
  readonly name = 'file-source';
  readonly #deps: FileSourceDeps;
  readonly #manifests: ManifestFiles;
  readonly #watch: PathWatch;
  readonly #events = new RecentEvents();
  #toldPods: readonly DesiredPod[] | undefined;
  #toldObjects: readonly StandaloneObject[] = [];
  #timer: { readonly due: number; readonly cancel: CancelTimer } | undefined;
  #looking: Promise<void> | undefined;
  #stopped = false;
  #forgetSignal: () => void = () => {};

  constructor(deps: FileSourceDeps) {
    const path = resolve(deps.path);
    const { clock, log, files, nodeName, allowFolderObjects = false } = deps;
    const { preventApiReferences = true, rules = defaultPodRules } = deps;
    const allowed = { preventApiReferences, allowFolderObjects, rules };
    this.#deps = deps;
    this.#watch = new PathWatch({ files, log, path, onChange: this.#changed });
    this.#manifests = new ManifestFiles({ clock, log, files, path, nodeName, ...allowed });
  }

  /** Returns after the first look, so that whoever starts next knows the static pods. */
  async start(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => void this.stop();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#forgetSignal = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) return this.stop();
    this.#looking = this.#look();
    await this.#looking;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forgetSignal();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#watch.close();
    await this.#looking;
  }

  readonly #changed: OnPathChange = (name, kind) => {
    this.#deps.log.debug(4, 'Something changed at the static pod path', { path: this.#deps.path, name, kind });
    if (name !== undefined) this.#events.add(name, kind);
    this.#planLook(gatherMs);
  };

  #planLook(ms: number): void {
    if (this.#stopped) return;
    const due = this.#deps.clock.monotonic() + ms;
    if (this.#timer !== undefined && this.#timer.due <= due) return;
    this.#timer?.cancel();
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timer = undefined;
      this.#looking = (this.#looking ?? Promise.resolve()).then(() => this.#look());
    });
    this.#timer = { due, cancel };
  }

  async #look(): Promise<void> {
    if (this.#stopped) return;
    const { log, path, fileCheckFrequencyMs } = this.#deps;
    let unsettled = false;
    try {
      const outcome = await this.#manifests.look(this.#events.take(), this.#watch);
      unsettled = outcome.unsettled;
      this.#tell(outcome);
    } catch (error) {
      log.error(error, 'Cannot read the static pod manifests, keeping the pods as they are', { path });
    }
    if (this.#stopped) this.#watch.close();
    else this.#planLook(unsettled ? lookAgainMs : Math.max(leastPollMs, fileCheckFrequencyMs));
  }

  #tell({ podsBetween, pods, objects }: LookOutcome): void {
    if (this.#stopped) return;
    const { log, onObjects } = this.#deps;
    if (!sameItems(this.#toldObjects, objects)) {
      this.#toldObjects = objects;
      attempt(log, 'The set of ConfigMaps and Secrets was not taken', () => onObjects?.(objects));
    }
    // Without this set in between, a pod whose manifest is the same again would go on as if nothing had happened.
    if (podsBetween !== undefined) this.#tellPods(podsBetween);
    this.#tellPods(pods);
  }

  #tellPods(pods: readonly DesiredPod[]): void {
    if (this.#toldPods !== undefined && sameItems(this.#toldPods, pods)) return;
    this.#toldPods = pods;
    const { log, onSet } = this.#deps;
    attempt(log, 'The set of static pods was not taken', () => onSet('file', pods));
  }
}

function sameItems<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/** What those who are told do with it must not end the looking. */
function attempt(log: Log, failure: string, tell: () => void): void {
  try {
    tell();
  } catch (error) {
    log.error(error, failure);
  }
}
