import { decodeMessage, messageLength, type Message } from './message.ts';
import { maxMessageBytes } from './values.ts';

/**
 * Cuts what a stream brings into messages. Holds less than one message, however it is cut. Messages that are too large are
 * left out, like those of unknown types: on a system's bus anybody may send such to anybody.
 */
export class MessageSplitter {
  #parts: Uint8Array[] = [];
  #held = 0;
  /** Bytes to wait for before a message can be whole. */
  #wanted = 1;
  /** Bytes still to come of a message that is left out. */
  #leaveOut = 0;

  /** The messages that are complete now. Throws MalformedMessage, after which the stream is of no use. */
  *push(bytes: Uint8Array): Generator<Message, void, undefined> {
    const left = Math.min(this.#leaveOut, bytes.length);
    this.#leaveOut -= left;
    this.#parts.push(bytes.subarray(left));
    this.#held += bytes.length - left;
    if (this.#held < this.#wanted) return;
    let rest = Buffer.concat(this.#parts);
    let length = messageLength(rest);
    for (; length !== undefined; length = messageLength(rest)) {
      const whole = length <= rest.length;
      const tooLarge = length > maxMessageBytes;
      if (!whole && !tooLarge) break;
      const one = rest.subarray(0, length);
      this.#leaveOut = length - one.length;
      rest = rest.subarray(one.length);
      const message = tooLarge ? undefined : decodeMessage(one);
      if (message !== undefined) yield message;
    }
    this.#parts = [rest];
    this.#held = rest.length;
    this.#wanted = length ?? this.#held + 1;
  }
}
