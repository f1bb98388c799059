import { TubeletError } from '../base/errors.ts';
import { MalformedMessage } from './values.ts';

const maxLineBytes = 4_096;

type Step = 'authenticating' | 'negotiating' | 'done';

interface Progress {
  /** To be sent now. */
  readonly send: string;
  /** There once the other side has agreed to all: the bytes after its last line. */
  readonly rest?: Buffer;
}

/**
 * The lines before the first message: who we are, by the mechanism EXTERNAL, for which the kernel vouches, and whether
 * descriptors may be sent.
 *
 *   AUTH EXTERNAL ──OK──> (NEGOTIATE_UNIX_FD ──AGREE_UNIX_FD──>) BEGIN
 */
export class Authentication {
  readonly #uid: number;
  readonly #descriptors: boolean;
  #step: Step = 'authenticating';
  #bytes = Buffer.alloc(0);

  constructor({ uid, descriptors }: { readonly uid: number; readonly descriptors: boolean }) {
    this.#uid = uid;
    this.#descriptors = descriptors;
  }

  begin(): string {
    return `\0AUTH EXTERNAL ${Buffer.from(String(this.#uid)).toString('hex')}\r\n`;
  }

  push(bytes: Uint8Array): Progress {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    let send = '';
    while (this.#step !== 'done') {
      const end = this.#bytes.indexOf('\r\n');
      if (end < 0 && this.#bytes.length <= maxLineBytes) return { send };
      if (end < 0) throw new MalformedMessage('a line of the authentication is too long');
      const line = this.#bytes.toString('latin1', 0, end);
      this.#bytes = this.#bytes.subarray(end + 2);
      send += this.#answer(line);
    }
    return { send, rest: this.#bytes };
  }

  #answer(line: string): string {
    const word = line.split(' ', 1)[0];
    if (this.#step === 'authenticating') {
      if (word !== 'OK') throw new TubeletError('denied', `D-Bus refused the authentication: ${line.slice(0, 200)}`);
      this.#step = this.#descriptors ? 'negotiating' : 'done';
      return this.#descriptors ? 'NEGOTIATE_UNIX_FD\r\n' : 'BEGIN\r\n';
    }
    if (word !== 'AGREE_UNIX_FD') throw new TubeletError('unsupported', 'this D-Bus sends no descriptors');
    this.#step = 'done';
    return 'BEGIN\r\n';
  }
}
