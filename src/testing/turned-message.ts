import { parseSignature, parseSingleType, type Type } from '../dbus/signature.ts';

/** A message that was written with the least significant byte first, as a machine writes it that begins with the other. */
export function turnedMessage(message: Buffer): Buffer {
  const turned = Buffer.from(message);
  turned[0] = 'B'.charCodeAt(0);
  for (const at of [4, 8]) turned.subarray(at, at + 4).reverse();
  const head = new Turner(turned, 12);
  head.turn(parseSingleType('a(yv)'));
  const body = turned.subarray(head.alignedTo(8));
  const turner = new Turner(body, 0);
  for (const type of parseSignature(head.signature)) turner.turn(type);
  return turned;
}

const sizes: Readonly<Record<string, number>> = { y: 1, n: 2, q: 2, x: 8, t: 8, d: 8 };

class Turner {
  readonly #bytes: Buffer;
  #at: number;
  /** The last signature that was not that of a variant. */
  signature = '';

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  alignedTo(to: number): number {
    return (this.#at = Math.ceil(this.#at / to) * to);
  }

  turn(type: Type): void {
    if (type.kind === 'basic') this.#basic(type.code);
    else if (type.kind === 'variant') this.turn(parseSingleType(this.#shortText()));
    else if (type.kind === 'array') this.#array(type.item);
    else {
      this.alignedTo(8);
      for (const field of type.fields) this.turn(field);
    }
  }

  #array(item: Type): void {
    const length = this.#number(4);
    const wide = item.kind === 'struct' || item.kind === 'entry' || (item.kind === 'basic' && sizes[item.code] === 8);
    const end = (wide ? this.alignedTo(8) : this.#at) + length;
    while (this.#at < end) this.turn(item);
  }

  #basic(code: string): void {
    if (code === 'g') this.signature = this.#shortText();
    else {
      const length = this.#number(sizes[code] ?? 4);
      if (code === 's' || code === 'o') this.#at += length + 1;
    }
  }

  /** Turns a number around; answers it where it has four bytes. */
  #number(size: number): number {
    const at = this.alignedTo(size);
    const value = size === 4 ? this.#bytes.readUInt32LE(at) : 0;
    this.#bytes.subarray(at, at + size).reverse();
    this.#at += size;
    return value;
  }

  #shortText(): string {
    const length = this.#bytes.readUInt8(this.#at);
    const text = this.#bytes.toString('latin1', this.#at + 1, this.#at + 1 + length);
    this.#at += length + 2;
    return text;
  }
}
