import { decodeMessage, messageLength, type Message } from './message.ts';

/** Cuts what a stream brings into messages. Holds less than one message, however it is cut. */
export class MessageSplitter {
  #parts: Uint8Array[] = [];
  #held = 0;
  /** Bytes to wait for before another look is worth it. */
  #wanted = 1;

  /** The messages that are complete now. Throws MalformedMessage, after which the stream is of no use. */
  *push(bytes: Uint8Array): Generator<Message, void, undefined> {
    this.#parts.push(bytes);
    this.#held += bytes.length;
    if (this.#held < this.#wanted) return;
    let rest = Buffer.concat(this.#parts);
    let length = messageLength(rest);
    for (; length !== undefined && length <= rest.length; length = messageLength(rest)) {
      const one = rest.subarray(0, length);
      rest = rest.subarray(length);
      yield decodeMessage(one);
    }
    this.#parts = [rest];
    this.#held = rest.length;
    this.#wanted = length ?? this.#held + 1;
  }
}
