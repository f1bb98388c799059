import type { ApiTransport, TransportAnswer, TransportRequest } from '../apiserver/ports.ts';
import { TubeletError } from '../base/errors.ts';

export type Script = (request: TransportRequest, count: number) => TransportAnswer | Promise<TransportAnswer>;

/** A wire whose other end is a function of the test. */
export class ScriptedTransport implements ApiTransport {
  readonly requests: TransportRequest[] = [];
  script: Script;
  resets = 0;

  constructor(script: Script) {
    this.script = script;
  }

  async send(request: TransportRequest): Promise<TransportAnswer> {
    this.requests.push(request);
    const { signal } = request;
    if (signal.aborted) throw signal.reason;
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      Promise.resolve(this.script(request, this.requests.length)).then(resolve, reject);
    });
  }

  reset(): void {
    this.resets++;
  }

  async close(): Promise<void> {}
}

export function answerOf(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): TransportAnswer {
  const bytes =
    value instanceof Uint8Array ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return {
    status,
    headers,
    body: (async function* () {
      yield bytes;
    })(),
  };
}

/** The body of a watch, written by the test piece by piece. */
export class ScriptedBody implements AsyncIterable<Uint8Array> {
  readonly #pieces: (Uint8Array | 'end' | Error)[] = [];
  #wake: () => void = () => {};
  left = false;

  constructor(signal?: AbortSignal) {
    signal?.addEventListener('abort', () => this.break(signal.reason as Error), { once: true });
  }

  /** Objects become lines; texts and bytes go as they are. */
  write(...pieces: readonly (object | string)[]): void {
    for (const piece of pieces) {
      if (piece instanceof Uint8Array) this.#push(piece);
      else this.#push(Buffer.from(typeof piece === 'string' ? piece : `${JSON.stringify(piece)}\n`));
    }
  }

  end(): void {
    this.#push('end');
  }

  break(error: Error = new TubeletError('unavailable', 'the connection broke')): void {
    this.#push(error);
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
      this.left = true;
    }
  }

  #push(piece: Uint8Array | 'end' | Error): void {
    this.#pieces.push(piece);
    this.#wake();
  }
}
