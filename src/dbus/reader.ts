import { isUtf8 } from 'node:buffer';
import { alignmentOf, isBytes, parseSignature, parseSingleType, type Type } from './signature.ts';
import { isObjectPath, MalformedMessage, maxDepth, type DBusValue } from './values.ts';

/** Reads values in either order of bytes. Every read is within the bytes it was given. */
export class Reader {
  readonly #bytes: Buffer;
  readonly #little: boolean;
  #at: number;

  /** Alignment counts from the first byte. */
  constructor(bytes: Buffer, littleEndian: boolean, at = 0) {
    this.#bytes = bytes;
    this.#little = littleEndian;
    this.#at = at;
  }

  get position(): number {
    return this.#at;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  values(signature: string): readonly DBusValue[] {
    return parseSignature(signature).map((type) => this.value(type, 0));
  }

  value(type: Type, depth: number): DBusValue {
    if (depth > maxDepth) throw new MalformedMessage('containers are nested too deep');
    if (type.kind === 'basic') return this.#basic(type.code);
    if (type.kind === 'array') return this.#array(type, depth);
    if (type.kind === 'variant') {
      const signature = this.#signature();
      return { signature, value: this.value(parseSingleType(signature), depth + 1) };
    }
    this.align(8);
    return type.fields.map((field) => this.value(field, depth + 1));
  }

  /** Padding has to be zero. */
  align(to: number): void {
    const start = this.#take((to - (this.#at % to)) % to);
    for (let at = start; at < this.#at; at++) {
      if (this.#bytes[at] !== 0) throw new MalformedMessage('padding is not zero');
    }
  }

  uint32(): number {
    this.align(4);
    const at = this.#take(4);
    return this.#little ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at);
  }

  #array(type: Type & { readonly kind: 'array' }, depth: number): DBusValue {
    const length = this.uint32();
    this.align(alignmentOf(type.item));
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new MalformedMessage('an array goes beyond the message');
    if (isBytes(type)) return new Uint8Array(this.#bytes.subarray(this.#take(length), end));
    const items: DBusValue[] = [];
    // Each value takes a byte at least.
    while (this.#at < end) items.push(this.value(type.item, depth + 1));
    if (this.#at !== end) throw new MalformedMessage('an array does not end with its last value');
    return items;
  }

  #basic(code: string): DBusValue {
    const bytes = this.#bytes;
    switch (code) {
      case 'y':
        return bytes.readUInt8(this.#take(1));
      case 'n':
        return this.#little ? bytes.readInt16LE(this.#number(2)) : bytes.readInt16BE(this.#number(2));
      case 'q':
        return this.#little ? bytes.readUInt16LE(this.#number(2)) : bytes.readUInt16BE(this.#number(2));
      case 'i':
        return this.#little ? bytes.readInt32LE(this.#number(4)) : bytes.readInt32BE(this.#number(4));
      case 'x':
        return this.#little ? bytes.readBigInt64LE(this.#number(8)) : bytes.readBigInt64BE(this.#number(8));
      case 't':
        return this.#little ? bytes.readBigUInt64LE(this.#number(8)) : bytes.readBigUInt64BE(this.#number(8));
      case 'd':
        return this.#little ? bytes.readDoubleLE(this.#number(8)) : bytes.readDoubleBE(this.#number(8));
      case 'b':
        return this.#boolean();
      case 's':
      case 'o':
        return this.#text(code);
      case 'g':
        return this.#checkedSignature();
      default:
        return this.uint32();
    }
  }

  #boolean(): boolean {
    const value = this.uint32();
    if (value > 1) throw new MalformedMessage('a boolean is neither 0 nor 1');
    return value === 1;
  }

  #text(code: 's' | 'o'): string {
    const text = this.#terminated(this.uint32());
    if (code === 'o' && !isObjectPath(text)) throw new MalformedMessage('an object path is wrong');
    return text;
  }

  #signature(): string {
    return this.#terminated(this.#bytes.readUInt8(this.#take(1)));
  }

  #checkedSignature(): string {
    const signature = this.#signature();
    parseSignature(signature);
    return signature;
  }

  /** A text and the zero byte after it. */
  #terminated(length: number): string {
    const start = this.#take(length + 1);
    const text = this.#bytes.subarray(start, start + length);
    if (this.#bytes[start + length] !== 0 || text.includes(0))
      throw new MalformedMessage('a text ends at a wrong place');
    if (!isUtf8(text)) throw new MalformedMessage('a text is not UTF-8');
    return text.toString('utf8');
  }

  #number(bytes: 2 | 4 | 8): number {
    this.align(bytes);
    return this.#take(bytes);
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#bytes.length - at) throw new MalformedMessage('the message ends too early');
    this.#at += bytes;
    return at;
  }
}
