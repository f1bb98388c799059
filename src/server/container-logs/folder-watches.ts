import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { PodFields } from '../../model/pod-log.ts';
import type { ContainerLogFiles } from './ports.ts';

interface FolderWatchesDeps {
  readonly files: Pick<ContainerLogFiles, 'watch'>;
  readonly log: Log;
}

type Listener = (name: string | undefined) => void;

interface Watch {
  readonly listeners: Set<Listener>;
  /** Undefined when the folder cannot be watched: its followers read once a second anyway. */
  close: (() => void) | undefined;
}

/** One watch per folder, however many read the logs in it. Its events are hints to read again. */
export class FolderWatches {
  readonly #deps: FolderWatchesDeps;
  readonly #watches = new Map<string, Watch>();

  constructor(deps: FolderWatchesDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** The returned function ends it; calling it twice is harmless. */
  watch(folder: string, named: PodFields, listener: Listener): () => void {
    const watch = this.#watches.get(folder) ?? this.#begin(folder, named);
    watch.listeners.add(listener);
    return () => {
      watch.listeners.delete(listener);
      if (watch.listeners.size > 0 || this.#watches.get(folder) !== watch) return;
      this.#watches.delete(folder);
      watch.close?.();
    };
  }

  #begin(folder: string, named: PodFields): Watch {
    const watch: Watch = { listeners: new Set(), close: undefined };
    this.#watches.set(folder, watch);
    const onChange: Listener = (name) => {
      for (const listener of watch.listeners) listener(name);
    };
    const onError = (error: unknown): void => {
      this.#deps.log.warn('Cannot watch a folder of container logs; it is read once a second', {
        ...named,
        folder,
        err: messageOf(error),
      });
      watch.close?.();
      watch.close = undefined;
    };
    try {
      watch.close = this.#deps.files.watch(folder, onChange, onError);
    } catch (error) {
      onError(error);
    }
    return watch;
  }
}
