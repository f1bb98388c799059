import { abortError } from '../../apiserver/transport/network-error.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Status } from '../../gen/kubernetes/types.ts';
import { apiVersionOf } from '../../model/api-resources.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import type { FakeKind } from './kinds.ts';
import type { Selects } from './selectors.ts';
import { lastState, type Change } from './store.ts';

interface WatchPlan {
  readonly kind: FakeKind;
  readonly selects: Selects;
  /** Only what comes after it is told. */
  readonly from: number;
  readonly timeoutMs: number;
  readonly bookmarks: boolean;
}

interface WatchStreamDeps {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  /** The newest version of the store, for bookmarks. */
  readonly version: () => number;
  readonly signal: AbortSignal;
  readonly onClose: () => void;
}

const bookmarkEveryMs = 60_000;
/** The last bookmark comes shortly before the end, so that the next watch begins where this one was. */
const lastBookmarkMs = 2_000;

/**
 * The body of one watch.
 *
 *   open ──time is up──> ended            open ──silence()──> nothing comes any more, not even the end
 *     └──abort, break()──> broken            └──abort, reset()──> broken
 */
export class WatchStream implements AsyncIterable<Uint8Array> {
  readonly plan: WatchPlan;
  readonly #deps: WatchStreamDeps;
  readonly #pieces: (Uint8Array | 'end' | Error)[] = [];
  readonly #endsAt: number;
  #wake: () => void = () => {};
  #isSilent = false;
  #isOver = false;
  #cancelTimer: CancelTimer = () => {};
  readonly #onAbort: () => void;

  constructor(plan: WatchPlan, deps: WatchStreamDeps) {
    const { clock, signal } = deps;
    this.plan = plan;
    this.#deps = deps;
    this.#endsAt = clock.monotonic() + plan.timeoutMs;
    this.#onAbort = () => this.#finish(abortError(signal));
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#arm();
  }

  /** An object that leaves the selection is deleted as far as this watch can see. */
  tell({ version, kind, before, after }: Change): void {
    const { plan } = this;
    if (kind !== plan.kind || version <= plan.from) return;
    const was = before !== undefined && plan.selects(before);
    const is = after !== undefined && plan.selects(after);
    if (is) this.#event(was ? 'MODIFIED' : 'ADDED', after);
    else if (was) this.#event('DELETED', lastState(before, version));
  }

  /** What is there when somebody watches from no version at all. */
  begin(object: JsonMap): void {
    this.#event('ADDED', object);
  }

  /** Bytes as they are, whether or not they make sense. */
  write(text: string): void {
    this.#push(Buffer.from(text));
  }

  fail(status: Status): void {
    this.#event('ERROR', status as JsonMap);
    this.end();
  }

  end(): void {
    if (!this.#isSilent) this.#finish('end');
  }

  break(): void {
    if (!this.#isSilent) this.#finish(broken());
  }

  /** The connection is half open: the server is gone and nobody has told the client. */
  silence(): void {
    this.#isSilent = true;
  }

  /** The client gives up connections that it does not trust: half open ones turn out to be broken. */
  reset(): void {
    if (this.#isSilent) this.#finish(broken());
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (piece === 'end') return;
        else if (piece instanceof Error) throw piece;
        else yield piece;
      }
    } finally {
      this.#close();
    }
  }

  #event(type: string, object: JsonMap): void {
    this.write(`${JSON.stringify({ type, object })}\n`);
  }

  #push(piece: Uint8Array): void {
    if (this.#isSilent || this.#isOver) return;
    this.#pieces.push(piece);
    this.#wake();
  }

  #finish(how: 'end' | Error): void {
    if (this.#isOver) return;
    // Who gives up does not wait for what is still on its way.
    if (how !== 'end') this.#pieces.length = 0;
    this.#pieces.push(how);
    this.#close();
    this.#wake();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#deps.signal.removeEventListener('abort', this.#onAbort);
    this.#deps.onClose();
  }

  #arm(): void {
    const { clock } = this.#deps;
    const restMs = this.#endsAt - clock.monotonic();
    const bookmarkMs = this.plan.bookmarks ? Math.min(bookmarkEveryMs, restMs - lastBookmarkMs) : 0;
    if (bookmarkMs <= 0) {
      this.#cancelTimer = clock.after(restMs, () => this.end());
      return;
    }
    this.#cancelTimer = clock.after(bookmarkMs, () => {
      this.#bookmark();
      this.#arm();
    });
  }

  #bookmark(): void {
    const version = this.#deps.version();
    const { kind, from } = this.plan;
    // A version the client knows already, or one before it, tells nothing.
    if (version <= from) return;
    const metadata = { resourceVersion: String(version) };
    this.#event('BOOKMARK', { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata });
  }
}

function broken(): TubeletError {
  return new TubeletError('unavailable', 'the connection broke');
}
