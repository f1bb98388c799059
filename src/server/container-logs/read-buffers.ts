import { Limiter } from '../../base/limiter.ts';
import type { OpenLog } from './ports.ts';

export const blockBytes = 64 * 1024;
/** What all readers together may have under way: one that waits for lines or for its client holds no memory. */
const maxBuffers = 16;

/** Room to read into, shared by all readers of logs. */
export class ReadBuffers {
  readonly #limiter: Limiter;
  readonly #free: Buffer[] = [];

  constructor(max = maxBuffers) {
    this.#limiter = new Limiter(max);
  }

  /** Reads at a place and hands over what was read; the bytes are gone when `use` returns, so it cannot wait. */
  read(
    file: OpenLog,
    position: number,
    length: number,
    use: (chunk: Buffer) => void,
    signal: AbortSignal,
  ): Promise<number> {
    return this.#limiter.run(async () => {
      const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
      try {
        const bytes = await file.read(buffer, position, Math.min(length, blockBytes));
        if (bytes > 0) use(buffer.subarray(0, bytes));
        return bytes;
      } finally {
        this.#free.push(buffer);
      }
    }, signal);
  }
}
