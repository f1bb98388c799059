import { basename, dirname, relative, sep } from 'node:path';
import { isKind } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { FileInfo } from '../../model/file-facts.ts';
import type { Files, OnPathChange } from './ports.ts';

interface PathWatchDeps {
  readonly files: Files;
  readonly log: Log;
  readonly path: string;
  /** Something may have changed: the entry of that name, or anything. */
  readonly onChange: OnPathChange;
}

interface Watch {
  readonly path: string;
  readonly identity: string;
  readonly close: () => void;
}

/**
 * Watches a path although its folders may be replaced. A watch of the kernel stays with the folder it was set on, so there
 * are two: one inside the folder, and one on the nearest existing folder above, which reports that the path is made,
 * replaced or swapped by a link. The follow methods set them again where the folders are not the watched ones any more.
 */
export class PathWatch {
  readonly #deps: PathWatchDeps;
  #inside: Watch | undefined;
  #above: Watch | undefined;
  #failure: string | undefined;

  constructor(deps: PathWatchDeps) {
    this.#deps = deps;
  }

  /** To be called before the path is resolved. */
  async followAbove(): Promise<void> {
    // A folder nearer to the path may have been made after its stat and before the watch above it was set, so after a
    // watch further up this checks again.
    let unsure = true;
    while (unsure) unsure = await this.#watchNearest();
  }

  /** To be called when the path is resolved and before its target is read. */
  followInside(target: FileInfo | undefined): void {
    const { path } = this.#deps;
    const folder = target?.kind === 'directory' ? target : undefined;
    if (this.#inside !== undefined && this.#inside.identity !== folder?.identity) this.#closeInside();
    if (folder !== undefined) this.#inside ??= this.#watch(path, folder.identity, this.#insideChanged);
  }

  close(): void {
    this.#closeInside();
    this.#closeAbove();
  }

  /** A folder that is moved or deleted reports its own name; its watch reports nothing after that. */
  readonly #insideChanged: OnPathChange = (name, kind) => {
    if (name === basename(this.#deps.path)) this.#closeInside();
    this.#deps.onChange(name, kind);
  };

  /** Watches the nearest folder above that exists. True if that is a new watch and there may be a nearer one by now. */
  async #watchNearest(): Promise<boolean> {
    const { files, path } = this.#deps;
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      try {
        const { identity } = await files.stat(folder);
        if (this.#above?.path === folder && this.#above.identity === identity) return false;
        const awaited = relative(folder, path).split(sep)[0];
        this.#closeAbove();
        this.#above = this.#watch(folder, identity, (name, kind) => {
          if (name === undefined || name === awaited) this.#deps.onChange(name, kind);
        });
        return this.#above !== undefined && folder !== dirname(path);
      } catch (error) {
        if (folder === dirname(folder) || !isKind(error, 'notFound')) {
          this.#reportOnce(error, folder);
          return false;
        }
      }
    }
  }

  #watch(path: string, identity: string, onChange: OnPathChange): Watch | undefined {
    const { files } = this.#deps;
    try {
      const close = files.watch(path, onChange, (error) => {
        this.#reportOnce(error, path);
        this.close();
      });
      this.#failure = undefined;
      return { path, identity, close };
    } catch (error) {
      // The folder was removed since its stat: the watch above, or the next reading, reports it.
      if (!isKind(error, 'notFound')) this.#reportOnce(error, path);
      return undefined;
    }
  }

  /** Without watches the source still polls, so one log line is enough. */
  #reportOnce(error: unknown, path: string): void {
    const failure = String(error);
    if (failure === this.#failure) return;
    this.#failure = failure;
    this.#deps.log.error(error, 'Cannot watch for static pod manifests, polling only', { path });
  }

  #closeInside(): void {
    this.#inside?.close();
    this.#inside = undefined;
  }

  #closeAbove(): void {
    this.#above?.close();
    this.#above = undefined;
  }
}
