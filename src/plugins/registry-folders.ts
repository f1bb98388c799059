import { describeError, isKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { RegistryFiles } from './ports.ts';

interface RegistryFoldersDeps {
  readonly files: RegistryFiles;
  readonly log: Log;
  readonly path: string;
  /** Something may have changed. */
  readonly onChange: () => void;
}

interface FoundSockets {
  /** Path → identity. */
  readonly sockets: ReadonlyMap<string, string>;
  /** Paths that could not be read: sockets below them count as unchanged. */
  readonly unread: readonly string[];
}

interface PartialScan {
  readonly sockets: Map<string, string>;
  readonly folders: Set<string>;
  readonly unread: string[];
}

interface FolderWatch {
  readonly identity: string;
  readonly close: () => void;
}

const scanFailed = 'Cannot scan for plugins, keeping those that are known';
const watchFailed = 'Cannot watch for plugins, scanning at intervals only';

/** The tree of registration sockets, with a watch on each of its folders. */
export class RegistryFolders {
  readonly #deps: RegistryFoldersDeps;
  readonly #watches = new Map<string, FolderWatch>();
  readonly #reported = new Map<string, string>();

  constructor(deps: RegistryFoldersDeps) {
    this.#deps = deps;
  }

  async scan(): Promise<FoundSockets> {
    const { files, path } = this.#deps;
    const found = { sockets: new Map<string, string>(), folders: new Set<string>(), unread: [] };
    // Emptying the agent's folder removes this one too; plugins that come back need it.
    await this.#unlessRemoved(path, found, () => files.makeFolder(path));
    await this.#walk(path, found);
    for (const [folder, watch] of this.#watches) {
      if (found.folders.has(folder)) continue;
      watch.close();
      this.#watches.delete(folder);
    }
    return found;
  }

  close(): void {
    for (const { close } of this.#watches.values()) close();
    this.#watches.clear();
  }

  async #walk(folder: string, found: PartialScan): Promise<void> {
    const { files } = this.#deps;
    await this.#unlessRemoved(folder, found, async () => {
      // Watched before it is read, so that a change in between is seen twice rather than never.
      this.#follow(folder, await files.identify(folder));
      found.folders.add(folder);
      for (const { name, kind } of await files.list(folder)) {
        if (name.startsWith('.')) continue;
        const path = `${folder}/${name}`;
        if (kind === 'folder') await this.#walk(path, found);
        else
          await this.#unlessRemoved(path, found, async () => void found.sockets.set(path, await files.identify(path)));
      }
    });
  }

  /** A path that is removed during the scan is not there. One that cannot be read goes to `unread`. */
  async #unlessRemoved(path: string, found: PartialScan, scan: () => Promise<void>): Promise<void> {
    try {
      await scan();
      this.#reported.delete(`${path}: ${scanFailed}`);
    } catch (error) {
      if (isKind(error, 'notFound')) return;
      found.unread.push(path);
      this.#reportOnce(error, scanFailed, path);
    }
  }

  #follow(folder: string, identity: string): void {
    const { files, onChange } = this.#deps;
    const present = this.#watches.get(folder);
    if (present?.identity === identity) return;
    present?.close();
    this.#watches.delete(folder);
    const failed = (error: unknown): void => {
      this.#watches.get(folder)?.close();
      this.#watches.delete(folder);
      if (isKind(error, 'notFound')) return;
      this.#reportOnce(error, watchFailed, folder);
    };
    try {
      this.#watches.set(folder, { identity, close: files.watch(folder, onChange, failed) });
    } catch (error) {
      failed(error);
    }
  }

  /** Logs a failure once, as every scan repeats it. */
  #reportOnce(error: unknown, message: string, path: string): void {
    const failure = describeError(error);
    const key = `${path}: ${message}`;
    if (this.#reported.get(key) === failure) return;
    this.#reported.set(key, failure);
    this.#deps.log.error(error, message, { path });
  }
}
