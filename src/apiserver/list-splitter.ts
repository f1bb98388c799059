import { TubeletError } from '../base/errors.ts';

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const space = 0x20;
/** Of what surrounds the items: a kind, and the metadata of the list. */
const maxShellBytes = 1024 * 1024;

/**
 * Cuts a list of the API server into its items while it arrives, so that even a long list is never a single text nor
 * parsed in one step.
 *
 *   { "metadata": {…}, "items": [ {…} , {…} ] }
 *   └──────────── shell ────────┘ item   item └┘ shell
 */
export class ListSplitter {
  readonly #maxItemBytes: number;
  #pieces: Uint8Array[] = [];
  #shell: Uint8Array[] = [];
  #itemBytes = 0;
  #shellBytes = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** Within the array of items, and within one of them. */
  #inItems = false;
  #inItem = false;
  /** The last text directly in the outermost object: the key, when a colon follows. */
  #key = '';
  #text: number[] | undefined;

  constructor(maxItemBytes: number) {
    this.#maxItemBytes = maxItemBytes;
  }

  /** The items that end in this piece, as bytes. */
  push(piece: Uint8Array): readonly Uint8Array[] {
    const items: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (this.#inString) this.#stepInString(byte);
      else if (byte === quote) this.#beginString();
      else if (byte === openBrace || byte === openBracket) {
        if (this.#inItems && this.#depth === 2) {
          if (byte !== openBrace) throw garbage();
          this.#keepShell(piece.subarray(from, at));
          this.#inItem = true;
          from = at;
        }
        if (byte === openBracket && this.#depth === 1 && this.#key === 'items') this.#inItems = true;
        this.#depth++;
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth--;
        if (this.#inItem && this.#depth === 2) {
          items.push(this.#finish(piece.subarray(from, at + 1)));
          from = at + 1;
        } else if (this.#inItems && this.#depth === 1) this.#inItems = false;
      } else if (this.#inItems && this.#depth === 2 && byte === comma) {
        // The separators between items are dropped with them.
        this.#keepShell(piece.subarray(from, at));
        from = at + 1;
      } else if (this.#inItems && this.#depth === 2 && byte > space) throw garbage();
      else if (byte === comma && this.#depth === 1) this.#key = '';
    }
    if (this.#inItem) this.#keep(piece.subarray(from));
    else this.#keepShell(piece.subarray(from));
    return items;
  }

  /** The list without its items, as text. */
  shell(): string {
    if (this.#depth !== 0 || this.#inString) throw garbage();
    return Buffer.concat(this.#shell).toString('utf8');
  }

  #beginString(): void {
    if (this.#inItems && this.#depth === 2) throw garbage();
    this.#inString = true;
    if (this.#depth === 1) this.#text = [];
  }

  #stepInString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) {
      this.#inString = false;
      if (this.#text !== undefined) this.#key = String.fromCharCode(...this.#text);
      this.#text = undefined;
      return;
    }
    // The only key that counts has five characters; longer texts are not compared.
    if (this.#text !== undefined && this.#text.length <= 5) this.#text.push(byte);
  }

  #finish(end: Uint8Array): Uint8Array {
    this.#keep(end);
    const item = Buffer.concat(this.#pieces, this.#itemBytes);
    this.#pieces = [];
    this.#itemBytes = 0;
    this.#inItem = false;
    return item;
  }

  #keep(piece: Uint8Array): void {
    this.#itemBytes += piece.length;
    if (this.#itemBytes > this.#maxItemBytes)
      throw tooLong(`an object in it is longer than ${this.#maxItemBytes} bytes`);
    this.#pieces.push(piece);
  }

  #keepShell(piece: Uint8Array): void {
    this.#shellBytes += piece.length;
    if (this.#shellBytes > maxShellBytes) throw tooLong(`it has more than ${maxShellBytes} bytes besides its items`);
    if (piece.length > 0) this.#shell.push(piece);
  }
}

function garbage(): TubeletError {
  return new TubeletError('unavailable', 'the answer is not a list in JSON');
}

function tooLong(why: string): TubeletError {
  return new TubeletError('unavailable', `the answer is too long: ${why}`);
}
