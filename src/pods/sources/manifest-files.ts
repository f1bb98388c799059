import { createHash } from 'node:crypto';
import { basename, extname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { describeError, isKind } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { seenTime } from '../../model/annotations.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { FileInfo } from '../../model/file-facts.ts';
import type { StaticPodRules } from '../../model/static-pod.ts';
import type { PodRules } from '../../model/validation/index.ts';
import { countChanges, classifyEntry, type EntryState, type PathEvents } from './entry-events.ts';
import { settleMs, classifyManifest, type FileState, type ManifestReading } from './classify-manifest.ts';
import { decodeText, unreadable, type Contents, type Manifest } from './manifest.ts';
import type { PathWatch } from './path-watch.ts';
import type { Files } from './ports.ts';
import { readManifest } from './read-manifest.ts';
import { reportFile } from './report-file.ts';

interface ManifestFilesDeps extends StaticPodRules {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Files;
  readonly path: string;
  readonly nodeName: string;
  readonly rules: PodRules;
}

export interface ManifestSet extends Contents {
  /** The pods without files that were deleted and made again since the last reading; undefined when there were none. */
  readonly podsBetween?: readonly DesiredPod[];
  /** A file seems to be half-written, or the folder is missing: read again soon. */
  readonly unstable: boolean;
}

const maxBytes = 10 * 1024 * 1024;
/** Equal to no version of a file. */
const unknownVersion = '';
const manifestEndings: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** The manifests at a path and what is known of each of them. */
export class ManifestFiles {
  readonly #deps: ManifestFilesDeps;
  #states: ReadonlyMap<string, FileState> = new Map();
  #entries: ReadonlyMap<string, EntryState> = new Map();
  /** Entries that are no manifests, so that each is logged once. */
  #skipped: ReadonlySet<string> = new Set();
  #missingSince: number | undefined;

  constructor(deps: ManifestFilesDeps) {
    this.#deps = deps;
  }

  /**
   * Reads what changed at the path or was touched by an event. Each folder is watched before it is read, so that no change
   * is missed in between. Throws when the path exists but cannot be read.
   */
  async read({ events, touched }: PathEvents, watch: PathWatch): Promise<ManifestSet> {
    await watch.followAbove();
    const target = await undefinedIfMissing(this.#deps.files.stat(this.#deps.path));
    watch.followInside(target);
    const found = target === undefined ? undefined : await this.#find(target);
    if (found === undefined && this.#mayComeBack()) return this.#outcome(true);
    if (found !== undefined) this.#missingSince = undefined;
    const states = new Map<string, FileState>();
    const recreated = this.#classifyEntries(found ?? new Map(), events);
    for (const [path, info] of found ?? []) {
      // A file that was deleted and made again is another one, even with the same content.
      const previous = recreated.has(path) ? undefined : this.#states.get(path);
      const known = previous?.version === info.version && info.version !== unknownVersion;
      const unchanged = known && !touched.has(basename(path));
      const state = unchanged && previous.kind !== 'unstable' ? previous : await this.#read(path, info, previous);
      if (state !== undefined) states.set(path, state);
    }
    const hadPods = [...recreated].some((path) => (this.#states.get(path)?.pods.length ?? 0) > 0);
    this.#states = states;
    const outcome = this.#outcome([...states.values()].some((state) => state.kind === 'unstable'));
    if (!hadPods) return outcome;
    const stayed = [...states].filter(([path]) => !recreated.has(path));
    return { ...outcome, podsBetween: stayed.flatMap(([, state]) => state.pods) };
  }

  /** The files that were deleted and made again since the last reading. */
  #classifyEntries(found: ReadonlyMap<string, FileInfo>, events: PathEvents['events']): ReadonlySet<string> {
    const known = new Set([...this.#states.keys()].map((path) => basename(path)));
    const there = new Set([...found.keys()].map((path) => basename(path)));
    const counts = countChanges(events, { wasKnown: (name) => known.has(name), isThere: (name) => there.has(name) });
    const now = this.#deps.clock.monotonic();
    const recreated = new Set<string>();
    const entries = new Map<string, EntryState>();
    for (const [path, { identity }] of found) {
      const changes = counts.get(basename(path)) ?? 0;
      const { state, wasRemoved } = classifyEntry(this.#entries.get(path), { identity, changes, now });
      entries.set(path, state);
      if (wasRemoved) recreated.add(path);
    }
    this.#entries = entries;
    return recreated;
  }

  #outcome(unstable: boolean): ManifestSet {
    const states = [...this.#states.values()];
    return {
      pods: states.flatMap((state) => state.pods),
      objects: states.flatMap((state) => state.objects),
      unstable,
    };
  }

  /** A folder that is being replaced is missing for a short time; its pods must not be killed for that. */
  #mayComeBack(): boolean {
    const now = this.#deps.clock.monotonic();
    this.#missingSince ??= now;
    return this.#states.size > 0 && now - this.#missingSince < settleMs;
  }

  /** The manifests that are there now, in the order of their names; undefined when the path itself is missing. */
  async #find(target: FileInfo): Promise<ReadonlyMap<string, FileInfo> | undefined> {
    const { files, path } = this.#deps;
    if (target.kind !== 'directory') {
      const skipped = new Map<string, string>();
      if (target.kind === 'other') skipped.set(path, 'neither a file nor a folder');
      this.#logSkipped(skipped);
      return new Map(target.kind === 'file' ? [[path, target]] : []);
    }
    const names = await undefinedIfMissing(files.readdir(path));
    if (names === undefined) return undefined;
    const found = new Map<string, FileInfo>();
    const skipped = new Map<string, string>();
    const visible = [...names].filter((name) => !name.startsWith('.')).sort();
    // All at once: one by one, a full folder would take longer to read than a change takes to write.
    const infos = await Promise.all(visible.map((name) => this.#infoOf(name)));
    for (const [index, name] of visible.entries()) {
      const at = join(path, name);
      const info = infos[index];
      if (info === 'other ending') skipped.set(at, 'its name does not end in .yaml, .yml or .json');
      else if (info?.kind === 'file') found.set(at, info);
      else if (info !== undefined) skipped.set(at, 'not a regular file; folders are not searched');
    }
    this.#logSkipped(skipped);
    return found;
  }

  #logSkipped(skipped: ReadonlyMap<string, string>): void {
    for (const [path, reason] of skipped) {
      if (!this.#skipped.has(path)) this.#deps.log.debug(2, 'Passing over what is no manifest', { path, reason });
    }
    this.#skipped = new Set(skipped.keys());
  }

  async #read(path: string, info: FileInfo, previous: FileState | undefined): Promise<FileState | undefined> {
    const { clock, log } = this.#deps;
    const reading = await this.#readingOf(path, info, previous);
    if (reading === undefined) return undefined;
    const state = classifyManifest(previous, reading, clock.monotonic());
    if (state.kind !== previous?.kind || state.digest !== previous.digest) reportFile(log, path, state);
    return state;
  }

  async #readingOf(
    path: string,
    info: FileInfo,
    previous: FileState | undefined,
  ): Promise<ManifestReading | undefined> {
    const { files } = this.#deps;
    try {
      if (info.size > maxBytes) {
        const manifest = unreadable(`the file has ${info.size} bytes, more than ${maxBytes}`);
        return { version: info.version, digest: `size ${info.size}`, manifest };
      }
      const bytes = await files.readFile(path);
      const digest = createHash('sha256').update(bytes).digest('hex');
      const manifest = previous?.digest === digest ? previous.manifest : this.#parse(path, bytes);
      return { version: info.version, digest, manifest };
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      // A file that cannot be read counts as a faulty text: read again, then reported, with the last good pods kept. Its
      // times do not show when it can be read again, so every reading tries.
      const message = describeError(error);
      return { version: unknownVersion, digest: message, manifest: unreadable(message) };
    }
  }

  #parse(path: string, bytes: Uint8Array): Manifest {
    const { clock, nodeName, preventApiReferences, allowFolderObjects = false, rules } = this.#deps;
    const text = decodeText(bytes);
    if (text === undefined) return unreadable('the file is not UTF-8 text');
    const seen = seenTime(clock.now());
    const origin = { source: 'file', origin: path, nodeName, seen } as const;
    return readManifest(text, { ...origin, preventApiReferences, allowFolderObjects, rules });
  }

  async #infoOf(name: string): Promise<FileInfo | 'other ending' | undefined> {
    if (!manifestEndings.has(extname(name))) return 'other ending';
    const { files, path } = this.#deps;
    try {
      return await undefinedIfMissing(files.stat(join(path, name)));
    } catch {
      // An entry whose stat fails is taken for a file: reading it gives the error to report.
      return { kind: 'file', size: 0, identity: name, version: unknownVersion };
    }
  }
}

async function undefinedIfMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  }
}
