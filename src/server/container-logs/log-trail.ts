import { basename, dirname, join } from 'node:path';
import { isKind } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { ContainerLogFiles, OpenLog } from './ports.ts';
import { filesAfter, newestStamp, rotatedFiles, type HeldFile, type RotatedFile } from './rotated-files.ts';

interface LogTrailDeps {
  readonly files: ContainerLogFiles;
  readonly log: Log;
  /** The current file, without links in the path. */
  readonly path: string;
}

/**
 *   here       nothing new
 *   more       the file has grown
 *   truncated  it was emptied in place and is read from its beginning
 *   moved      another file holds what comes next
 */
type TrailStep = 'here' | 'more' | 'truncated' | 'moved';

/** Files that are passed over because they were compressed; beyond it whatever is current is taken. */
const maxAttempts = 100;

/**
 * A position in a log that is rotated while it is read. The file stays open when it is renamed, compressed or removed, so
 * it is read to its end before the next one is begun, however many there are by then.
 */
export class LogTrail {
  readonly #deps: LogTrailDeps;
  #file: OpenLog;
  #held: HeldFile;
  position = 0;

  private constructor(deps: LogTrailDeps, file: OpenLog, held: HeldFile) {
    this.#deps = deps;
    this.#file = file;
    this.#held = held;
  }

  static async open(deps: LogTrailDeps): Promise<LogTrail> {
    const { file, newestBefore } = await openCurrent(deps);
    return new LogTrail(deps, file, { kind: 'current', identity: file.identity, newestBefore });
  }

  get file(): OpenLog {
    return this.#file;
  }

  /**
   * To be asked at the end of the file. `readRest` reads to the end of the present file once more: its writer may have
   * continued until the moment at which the next file was seen to be in use.
   */
  async step(readRest: () => Promise<void>): Promise<TrailStep> {
    const there = await this.#deps.files.stat(this.#deps.path);
    if (there?.identity === this.#file.identity) {
      if (there.size >= this.position) return there.size > this.position ? 'more' : 'here';
      this.position = 0;
      return 'truncated';
    }
    // A new file comes to be before the runtime turns to it; only one that was written to shows that it has, or one
    // that was put aside in its turn.
    if ((there?.size ?? 0) === 0 && (await this.#later()).length === 0) return this.#growth();
    await readRest();
    return this.#next();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #next(): Promise<TrailStep> {
    const { files, log, path } = this.#deps;
    for (let tries = 0; tries < maxAttempts; tries++) {
      const [next] = await this.#later();
      if (next === undefined) break;
      const name = join(dirname(path), next.name);
      const file = next.compressed ? undefined : await unlessMissing(files.open(name));
      const held = { kind: 'rotated', stamp: next.stamp } as const;
      if (file !== undefined) return this.#take(file, held);
      log.warn('A follower of a container log missed a file that was compressed before it got there', { path: name });
      this.#held = held;
    }
    return this.#nextCurrent();
  }

  async #nextCurrent(): Promise<TrailStep> {
    const current = await unlessMissing(openCurrent(this.#deps));
    if (current === undefined) return 'here';
    const { file, newestBefore } = current;
    let isNext = false;
    try {
      // One that was put aside in the same moment comes before this one.
      isNext = file.identity !== this.#file.identity && (await this.#later()).length === 0;
    } finally {
      if (!isNext) await file.close();
    }
    return isNext ? this.#take(file, { kind: 'current', identity: file.identity, newestBefore }) : 'more';
  }

  async #growth(): Promise<TrailStep> {
    return (await this.#file.size()) > this.position ? 'more' : 'here';
  }

  async #take(file: OpenLog, held: HeldFile): Promise<TrailStep> {
    const old = this.#file;
    this.#file = file;
    this.#held = held;
    this.position = 0;
    await old.close();
    return 'moved';
  }

  async #later(): Promise<readonly RotatedFile[]> {
    const { files, path } = this.#deps;
    const rotated = await listRotated(this.#deps);
    const identities = new Map<string, string>();
    if (this.#held.kind === 'current') {
      for (const { name, stamp, compressed } of rotated) {
        if (compressed || stamp <= this.#held.newestBefore) continue;
        const facts = await files.stat(join(dirname(path), name));
        if (facts !== undefined) identities.set(name, facts.identity);
      }
    }
    return filesAfter(this.#held, rotated, (name) => identities.get(name));
  }
}

async function listRotated({ files, path }: LogTrailDeps): Promise<readonly RotatedFile[]> {
  return rotatedFiles(basename(path), await files.list(dirname(path), basename(path)));
}

/**
 * The names are read first: a rotation in between makes too many files seem later than this one, but it finds itself
 * among them.
 */
async function openCurrent(deps: LogTrailDeps): Promise<{ readonly file: OpenLog; readonly newestBefore: string }> {
  const newestBefore = newestStamp(await listRotated(deps));
  return { file: await deps.files.open(deps.path), newestBefore };
}

async function unlessMissing<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome;
  } catch (error) {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  }
}
