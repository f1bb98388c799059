import { basename, dirname, relative, sep } from 'node:path';
import { isKind } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { FileInfo, Files, OnPathChange } from './ports.ts';

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
 * Watches a path through everything that can happen to it. A watch of the kernel stays with the folder it was set on,
 * so two are held: one inside the folder, and one on the nearest existing folder above, which tells of the path being
 * made, replaced or swapped by a link. Following sets them anew where the folders are no longer the ones watched.
 */
export class PathWatch {
  readonly #deps: PathWatchDeps;
  #inside: Watch | undefined;
  #above: Watch | undefined;
  #failure: string | undefined;

  constructor(deps: PathWatchDeps) {
    this.#deps = deps;
  }

  /** To be called before it is asked what the path leads to. */
  async followAbove(): Promise<void> {
    // A folder nearer to the path may have come between asking for it and watching the one above it, so a watch set
    // further up is followed by another look.
    let unsure = true;
    while (unsure) unsure = await this.#climb();
  }

  /** To be called when it is known what the path leads to and before that is read. */
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

  /** A folder that is moved or deleted reports its own name, and its watch is spent. */
  readonly #insideChanged: OnPathChange = (name, kind) => {
    if (name === basename(this.#deps.path)) this.#closeInside();
    this.#deps.onChange(name, kind);
  };

  /** Watches the nearest folder above that exists. True if that is a new watch and there may be a nearer one by now. */
  async #climb(): Promise<boolean> {
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
      // Gone again since it was looked at: the watch above, or the next look, tells of it.
      if (!isKind(error, 'notFound')) this.#reportOnce(error, path);
      return undefined;
    }
  }

  /** Without watches the source still looks every now and then, so one line is enough. */
  #reportOnce(error: unknown, path: string): void {
    const failure = String(error);
    if (failure === this.#failure) return;
    this.#failure = failure;
    this.#deps.log.error(error, 'Cannot watch for static pod manifests, looking at intervals only', { path });
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
