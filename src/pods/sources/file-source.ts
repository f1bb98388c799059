import { resolve } from 'node:path';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { DesiredPod, PodSource } from '../../model/desired-pod.ts';
import type { StandaloneObject } from '../../model/standalone-object.ts';
import type { PodRules } from '../../model/validation/index.ts';
import { RecentEvents } from './entry-events.ts';
import { rereadMs } from './classify-manifest.ts';
import { ManifestFiles, type ManifestSet } from './manifest-files.ts';
import { PathWatch } from './path-watch.ts';
import type { Files, OnPathChange } from './ports.ts';

export interface FileSourceDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Files;
  /** A folder of manifests or one manifest file; it may come later. */
  readonly path: string;
  readonly nodeName: string;
  /** How often the folder is read without an event. */
  readonly fileCheckFrequencyMs: number;
  /** Feature gate PreventStaticPodAPIReferences. */
  readonly preventApiReferences: boolean;
  /** Take ConfigMaps and Secrets from the folder, and let its pods refer to them. For a node without an API server. */
  readonly allowFolderObjects: boolean;
  readonly rules: PodRules;
  /** Gets all ConfigMaps and Secrets of the folder, whenever they changed, before the pods that may need them. */
  readonly onObjects: (objects: readonly StandaloneObject[]) => void;
  /** Gets the complete set, after the first reading and then whenever it changed. */
  readonly onSet: (source: PodSource, pods: readonly DesiredPod[]) => void;
}

/** A write comes as several events; the folder is read once for those of a millisecond. */
const debounceMs = 1;
const minPollMs = 1_000;

/**
 * The pods of the node's own folder. Events of the file system, the slow poll and a file that is unstable are all reasons
 * to reconcile: it reads what changed and publishes the whole set.
 */
export class FileSource implements Component {
  readonly name = 'file-source';
  readonly #deps: FileSourceDeps;
  readonly #manifests: ManifestFiles;
  readonly #watch: PathWatch;
  readonly #events = new RecentEvents();
  #publishedPods: readonly DesiredPod[] | undefined;
  #publishedObjects: readonly StandaloneObject[] = [];
  #timer: { readonly due: number; readonly cancel: CancelTimer } | undefined;
  #reconciling: Promise<void> | undefined;
  #stopped = false;
  #forgetSignal: () => void = () => {};

  constructor(deps: FileSourceDeps) {
    const path = resolve(deps.path);
    const { clock, log, files, nodeName, allowFolderObjects } = deps;
    const { preventApiReferences, rules } = deps;
    const allowed = { preventApiReferences, allowFolderObjects, rules };
    this.#deps = deps;
    this.#watch = new PathWatch({ files, log, path, onChange: this.#changed });
    this.#manifests = new ManifestFiles({ clock, log, files, path, nodeName, ...allowed });
  }

  /** Returns after the first reading, so that components that start later know the static pods. */
  async start(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => void this.stop();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#forgetSignal = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) return this.stop();
    this.#reconciling = this.#reconcile();
    await this.#reconciling;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forgetSignal();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#watch.close();
    await this.#reconciling;
  }

  readonly #changed: OnPathChange = (name, kind) => {
    this.#deps.log.debug(4, 'Something changed at the static pod path', { path: this.#deps.path, name, kind });
    if (name !== undefined) this.#events.add(name, kind);
    this.#requeue(debounceMs);
  };

  #requeue(ms: number): void {
    if (this.#stopped) return;
    const due = this.#deps.clock.monotonic() + ms;
    if (this.#timer !== undefined && this.#timer.due <= due) return;
    this.#timer?.cancel();
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timer = undefined;
      this.#reconciling = (this.#reconciling ?? Promise.resolve()).then(() => this.#reconcile());
    });
    this.#timer = { due, cancel };
  }

  async #reconcile(): Promise<void> {
    if (this.#stopped) return;
    const { log, path, fileCheckFrequencyMs } = this.#deps;
    let unstable = false;
    try {
      const outcome = await this.#manifests.read(this.#events.take(), this.#watch);
      unstable = outcome.unstable;
      this.#publish(outcome);
    } catch (error) {
      log.error(error, 'Cannot read the static pod manifests, keeping the pods as they are', { path });
    }
    if (this.#stopped) this.#watch.close();
    else this.#requeue(unstable ? rereadMs : Math.max(minPollMs, fileCheckFrequencyMs));
  }

  #publish({ podsBetween, pods, objects }: ManifestSet): void {
    if (this.#stopped) return;
    const { log, onObjects } = this.#deps;
    if (!sameItems(this.#publishedObjects, objects)) {
      this.#publishedObjects = objects;
      attempt(log, 'The set of ConfigMaps and Secrets was not taken', () => onObjects(objects));
    }
    // Without this set in between, a pod whose manifest was deleted and made again would not be restarted.
    if (podsBetween !== undefined) this.#publishPods(podsBetween);
    this.#publishPods(pods);
  }

  #publishPods(pods: readonly DesiredPod[]): void {
    if (this.#publishedPods !== undefined && sameItems(this.#publishedPods, pods)) return;
    this.#publishedPods = pods;
    const { log, onSet } = this.#deps;
    attempt(log, 'The set of static pods was not taken', () => onSet('file', pods));
  }
}

function sameItems<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/** A listener that throws must not end the source. */
function attempt(log: Log, failure: string, listener: () => void): void {
  try {
    listener();
  } catch (error) {
    log.error(error, failure);
  }
}
