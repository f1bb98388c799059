import { TubeletError } from '../base/errors.ts';
import { MalformedMessage } from './values.ts';

const maxLineBytes = 4_096;

/**
 * The lines before the first message: who we are, by the mechanism EXTERNAL, for which the kernel vouches, and whether
 * descriptors may be sent. All of ours are sent at once, and no message before the answers have come: systemd leaves a
 * message unread that it receives together with BEGIN.
 */
export class Authentication {
  readonly #uid: number;
  readonly #descriptors: boolean;
  /** Words that the other side has to answer with, in order. */
  readonly #expected: string[];
  #bytes = Buffer.alloc(0);

  constructor({ uid, descriptors }: { readonly uid: number; readonly descriptors: boolean }) {
    this.#uid = uid;
    this.#descriptors = descriptors;
    this.#expected = descriptors ? ['OK', 'AGREE_UNIX_FD'] : ['OK'];
  }

  /** All that is to be sent. */
  get lines(): string {
    const uid = Buffer.from(String(this.#uid)).toString('hex');
    return `\0AUTH EXTERNAL ${uid}\r\n${this.#descriptors ? 'NEGOTIATE_UNIX_FD\r\n' : ''}BEGIN\r\n`;
  }

  /** Takes answers; returns the bytes behind them once the other side has agreed to all. */
  push(bytes: Uint8Array): Buffer | undefined {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const [word] = this.#expected;
      if (word === undefined) return this.#bytes;
      const end = this.#bytes.indexOf('\r\n');
      if (end < 0 && this.#bytes.length <= maxLineBytes) return undefined;
      if (end < 0) throw new MalformedMessage('a line of the authentication is too long');
      const line = this.#bytes.toString('latin1', 0, end);
      if (line.split(' ', 1)[0] !== word) throw refusal(word, line);
      this.#expected.shift();
      this.#bytes = this.#bytes.subarray(end + 2);
    }
  }
}

function refusal(word: string, line: string): TubeletError {
  if (word !== 'OK') return new TubeletError('unsupported', 'this D-Bus sends no descriptors');
  return new TubeletError('denied', `D-Bus refused the authentication: ${line.slice(0, 200)}`);
}
