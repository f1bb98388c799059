import { createHash } from 'node:crypto';
import { basename, extname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { describeError, isKind } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { seenTime } from '../../model/annotations.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { StaticPodRules } from '../../model/static-pod.ts';
import type { PodRules } from '../../model/validation/index.ts';
import { countChanges, judgeEntry, type EntryState, type LookEvents } from './entry-events.ts';
import { doubtMs, judgeFile, type FileState, type Reading } from './judge-file.ts';
import { decodeText, unreadable, type Contents, type Manifest } from './manifest.ts';
import type { PathWatch } from './path-watch.ts';
import type { FileInfo, Files } from './ports.ts';
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

export interface LookOutcome extends Contents {
  /** The pods of the moment in which files were gone that are there again; undefined when there were none. */
  readonly podsBetween?: readonly DesiredPod[];
  /** Something looked half-done: look again soon. */
  readonly unsettled: boolean;
}

const maxBytes = 10 * 1024 * 1024;
/** Equal to no version of a file. */
const unknownVersion = '';
const manifestEndings: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** The manifests at a path and what is believed about each of them. */
export class ManifestFiles {
  readonly #deps: ManifestFilesDeps;
  #states: ReadonlyMap<string, FileState> = new Map();
  #entries: ReadonlyMap<string, EntryState> = new Map();
  /** Entries that are no manifests, so that each is mentioned once. */
  #passedOver: ReadonlySet<string> = new Set();
  #missingSince: number | undefined;

  constructor(deps: ManifestFilesDeps) {
    this.#deps = deps;
  }

  /**
   * Looks at the path and reads what changed or was touched by an event. Each thing is watched before it is looked at, so that no
   * change can fall in between. Throws when the path is there but cannot be looked at.
   */
  async look({ events, touched }: LookEvents, watch: PathWatch): Promise<LookOutcome> {
    await watch.followAbove();
    const target = await unlessMissing(this.#deps.files.stat(this.#deps.path));
    watch.followInside(target);
    const found = target === undefined ? undefined : await this.#find(target);
    if (found === undefined && this.#mayComeBack()) return this.#outcome(true);
    if (found !== undefined) this.#missingSince = undefined;
    const states = new Map<string, FileState>();
    const remade = this.#judgeEntries(found ?? new Map(), events);
    for (const [path, info] of found ?? []) {
      // A file that was deleted and made again is another one, whatever it says.
      const previous = remade.has(path) ? undefined : this.#states.get(path);
      const known = previous?.version === info.version && info.version !== unknownVersion;
      const unchanged = known && !touched.has(basename(path));
      const state = unchanged && previous.kind !== 'doubted' ? previous : await this.#read(path, info, previous);
      if (state !== undefined) states.set(path, state);
    }
    const hadPods = [...remade].some((path) => (this.#states.get(path)?.pods.length ?? 0) > 0);
    this.#states = states;
    const outcome = this.#outcome([...states.values()].some((state) => state.kind === 'doubted'));
    if (!hadPods) return outcome;
    const stayed = [...states].filter(([path]) => !remade.has(path));
    return { ...outcome, podsBetween: stayed.flatMap(([, state]) => state.pods) };
  }

  /** The files that were deleted and made again since the last look. */
  #judgeEntries(found: ReadonlyMap<string, FileInfo>, events: LookEvents['events']): ReadonlySet<string> {
    const known = new Set([...this.#states.keys()].map((path) => basename(path)));
    const there = new Set([...found.keys()].map((path) => basename(path)));
    const counts = countChanges(events, { wasKnown: (name) => known.has(name), isThere: (name) => there.has(name) });
    const now = this.#deps.clock.monotonic();
    const remade = new Set<string>();
    const entries = new Map<string, EntryState>();
    for (const [path, { identity }] of found) {
      const changes = counts.get(basename(path)) ?? 0;
      const { state, wasGone } = judgeEntry(this.#entries.get(path), { identity, changes, now });
      entries.set(path, state);
      if (wasGone) remade.add(path);
    }
    this.#entries = entries;
    return remade;
  }

  #outcome(unsettled: boolean): LookOutcome {
    const states = [...this.#states.values()];
    return {
      pods: states.flatMap((state) => state.pods),
      objects: states.flatMap((state) => state.objects),
      unsettled,
    };
  }

  /** A folder that is being replaced is away for a moment; its pods must not die of that. */
  #mayComeBack(): boolean {
    const now = this.#deps.clock.monotonic();
    this.#missingSince ??= now;
    return this.#states.size > 0 && now - this.#missingSince < doubtMs;
  }

  /** The manifests that are there now, in the order of their names; undefined when the path itself is gone. */
  async #find(target: FileInfo): Promise<ReadonlyMap<string, FileInfo> | undefined> {
    const { files, path } = this.#deps;
    if (target.kind !== 'directory') {
      const passedOver = new Map<string, string>();
      if (target.kind === 'other') passedOver.set(path, 'neither a file nor a folder');
      this.#mention(passedOver);
      return new Map(target.kind === 'file' ? [[path, target]] : []);
    }
    const names = await unlessMissing(files.readdir(path));
    if (names === undefined) return undefined;
    const found = new Map<string, FileInfo>();
    const passedOver = new Map<string, string>();
    const visible = [...names].filter((name) => !name.startsWith('.')).sort();
    // Asked all at once: one by one, a full folder would take longer to look at than its change to write.
    const infos = await Promise.all(visible.map((name) => this.#infoOf(name)));
    for (const [index, name] of visible.entries()) {
      const at = join(path, name);
      const info = infos[index];
      if (info === 'other ending') passedOver.set(at, 'its name does not end in .yaml, .yml or .json');
      else if (info?.kind === 'file') found.set(at, info);
      else if (info !== undefined) passedOver.set(at, 'not a regular file; folders are not searched');
    }
    this.#mention(passedOver);
    return found;
  }

  #mention(passedOver: ReadonlyMap<string, string>): void {
    for (const [path, reason] of passedOver) {
      if (!this.#passedOver.has(path)) this.#deps.log.debug(2, 'Passing over what is no manifest', { path, reason });
    }
    this.#passedOver = new Set(passedOver.keys());
  }

  async #read(path: string, info: FileInfo, previous: FileState | undefined): Promise<FileState | undefined> {
    const { clock, log } = this.#deps;
    const reading = await this.#readingOf(path, info, previous);
    if (reading === undefined) return undefined;
    const state = judgeFile(previous, reading, clock.monotonic());
    if (state.kind !== previous?.kind || state.digest !== previous.digest) reportFile(log, path, state);
    return state;
  }

  async #readingOf(path: string, info: FileInfo, previous: FileState | undefined): Promise<Reading | undefined> {
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
      // What cannot be read counts as a faulty text: looked at again, then reported, last good pods kept. The times of
      // the file say nothing about when that ends, so every look tries again.
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
      return await unlessMissing(files.stat(join(path, name)));
    } catch {
      // An entry that cannot even be asked about is taken for a file, and reading it tells what is wrong.
      return { kind: 'file', size: 0, identity: name, version: unknownVersion };
    }
  }
}

async function unlessMissing<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome;
  } catch (error) {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  }
}
