import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { parseVersion } from './lists.ts';
import { expired } from './refusal.ts';
import type { Call } from './route.ts';
import { selectorOf } from './selectors.ts';
import type { ObjectStore } from './store.ts';
import { WatchStream } from './watch-stream.ts';

interface WatchesDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: ObjectStore;
}

/** How long a watch lasts that does not say. */
const shortestSeconds = 1_800;

/** All watches that are open. */
export class Watches {
  readonly #deps: WatchesDeps;
  readonly #open = new Set<WatchStream>();

  constructor(deps: WatchesDeps) {
    this.#deps = deps;
    deps.store.listen((change) => {
      for (const stream of this.#open) stream.tell(change);
    });
  }

  get open(): readonly WatchStream[] {
    return [...this.#open];
  }

  start(call: Call, signal: AbortSignal): WatchStream {
    const { clock, random, store } = this.#deps;
    const { kind, namespace, query } = call;
    const selects = selectorOf(kind, namespace, query);
    const asked = parseVersion(query.get('resourceVersion') ?? '');
    const seconds = Number(query.get('timeoutSeconds') ?? 0) || shortestSeconds * (1 + random.next());
    const stream: WatchStream = new WatchStream(
      {
        kind,
        selects,
        from: asked === 0 ? store.version : asked,
        timeoutMs: seconds * 1_000,
        bookmarks: ['1', 'true'].includes(query.get('allowWatchBookmarks') ?? ''),
      },
      { clock, signal, version: () => store.version, onClose: () => void this.#open.delete(stream) },
    );
    this.#open.add(stream);
    // Whoever asks for too old a version is told within the watch, not instead of it.
    if (asked === 0) for (const [, object] of store.all(kind)) if (selects(object)) stream.begin(object);
    if (asked !== 0 && asked < store.oldest) {
      stream.fail(expired(`too old resource version: ${asked} (${store.oldest})`).toStatus());
    } else for (const change of store.since(stream.plan.from)) stream.tell(change);
    return stream;
  }
}
