import { alignmentOf, isBytes, parseSignature, parseSingleType, type Type } from './signature.ts';
import { isObjectPath, MalformedMessage, maxDepth, maxMessageBytes, type DBusValue, type Variant } from './values.ts';

/** Half of a character, which UTF-8 has no bytes for. */
const loneSurrogate = /\p{Surrogate}/u;

/** Values as bytes, the least significant first. */
export class Writer {
  #bytes = Buffer.alloc(256);
  #length = 0;

  /** What was written, in memory of its own. */
  bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  align(to: number): void {
    // What a grown buffer has beyond its old end is zero.
    this.#take((to - (this.#length % to)) % to);
  }

  values(signature: string, values: readonly DBusValue[]): void {
    const types = parseSignature(signature);
    if (types.length !== values.length) {
      throw new MalformedMessage(`${values.length} values for the signature "${signature}"`);
    }
    for (const [index, type] of types.entries()) this.value(type, values[index], 0);
  }

  value(type: Type, value: DBusValue | undefined, depth: number): void {
    if (depth > maxDepth) throw new MalformedMessage('containers are nested too deep');
    if (value === undefined) throw new MalformedMessage('a value is missing');
    if (type.kind === 'variant') this.#variant(value, depth);
    else if (type.kind === 'array') this.#array(type, value, depth);
    else if (type.kind === 'basic') this.#basic(type.code, value);
    else this.#struct(type.fields, value, depth);
  }

  #variant(value: DBusValue, depth: number): void {
    if (!isVariant(value)) throw new MalformedMessage('a variant needs a signature and a value');
    const type = parseSingleType(value.signature);
    this.#signature(value.signature);
    this.value(type, value.value, depth + 1);
  }

  #array(type: Type & { readonly kind: 'array' }, value: DBusValue, depth: number): void {
    const bytes = value instanceof Uint8Array;
    if (bytes !== isBytes(type) || !(bytes || Array.isArray(value))) throw new MalformedMessage('not an array');
    this.#number(4, (buffer, at) => buffer.writeUInt32LE(0, at));
    const lengthAt = this.#length - 4;
    this.align(alignmentOf(type.item));
    const start = this.#length;
    if (bytes) {
      const at = this.#take(value.length);
      this.#bytes.set(value, at);
    } else for (const item of value as readonly DBusValue[]) this.value(type.item, item, depth + 1);
    this.#bytes.writeUInt32LE(this.#length - start, lengthAt);
  }

  #struct(fields: readonly Type[], value: DBusValue, depth: number): void {
    if (!Array.isArray(value) || value.length !== fields.length) {
      throw new MalformedMessage(`not a struct of ${fields.length} fields`);
    }
    this.align(8);
    for (const [index, field] of fields.entries()) this.value(field, value[index] as DBusValue, depth + 1);
  }

  #basic(code: string, value: DBusValue): void {
    if (code === 's' || code === 'o' || code === 'g') this.#text(code, value);
    else if (code === 'b') {
      if (typeof value !== 'boolean') throw new MalformedMessage('not a boolean');
      this.#number(4, (buffer, at) => buffer.writeUInt32LE(value ? 1 : 0, at));
    } else if (code === 'x' || code === 't') {
      if (typeof value !== 'bigint') throw new MalformedMessage('a number of 64 bits is a bigint');
      if ((code === 'x' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) !== value) throw tooLarge(value);
      this.#number(8, (buffer, at) =>
        code === 'x' ? buffer.writeBigInt64LE(value, at) : buffer.writeBigUInt64LE(value, at),
      );
    } else {
      if (typeof value !== 'number') throw new MalformedMessage('not a number');
      this.#plainNumber(code, value);
    }
  }

  #plainNumber(code: string, value: number): void {
    if (code === 'd') {
      this.#number(8, (buffer, at) => buffer.writeDoubleLE(value, at));
      return;
    }
    const [min, max] = ranges[code] ?? [0, 0];
    if (!Number.isInteger(value) || value < min || value > max) throw tooLarge(value);
    if (code === 'y') this.#number(1, (buffer, at) => buffer.writeUInt8(value, at));
    else if (code === 'n') this.#number(2, (buffer, at) => buffer.writeInt16LE(value, at));
    else if (code === 'q') this.#number(2, (buffer, at) => buffer.writeUInt16LE(value, at));
    else if (code === 'i') this.#number(4, (buffer, at) => buffer.writeInt32LE(value, at));
    else this.#number(4, (buffer, at) => buffer.writeUInt32LE(value, at));
  }

  #text(code: string, value: DBusValue): void {
    if (typeof value !== 'string' || value.includes('\0') || loneSurrogate.test(value)) {
      throw new MalformedMessage('not a text');
    }
    if (code === 'g') {
      parseSignature(value);
      this.#signature(value);
      return;
    }
    if (code === 'o' && !isObjectPath(value)) throw new MalformedMessage(`"${value}" is no object path`);
    const length = Buffer.byteLength(value);
    this.#number(4, (buffer, at) => buffer.writeUInt32LE(length, at));
    // The byte after the text is zero already.
    const at = this.#take(length + 1);
    this.#bytes.write(value, at);
  }

  #signature(signature: string): void {
    const at = this.#take(signature.length + 2);
    this.#bytes[at] = signature.length;
    this.#bytes.write(signature, at + 1, 'latin1');
  }

  #number(bytes: 1 | 2 | 4 | 8, write: (buffer: Buffer, at: number) => void): void {
    this.align(bytes);
    const at = this.#take(bytes);
    write(this.#bytes, at);
  }

  /** Room for more bytes; answers where they begin. */
  #take(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > maxMessageBytes) throw new MalformedMessage('the message is too large');
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(this.#length, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    return at;
  }
}

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  y: [0, 0xff],
  n: [-0x8000, 0x7fff],
  q: [0, 0xffff],
  i: [-0x8000_0000, 0x7fff_ffff],
  u: [0, 0xffff_ffff],
  h: [0, 0xffff_ffff],
};

function tooLarge(value: number | bigint): MalformedMessage {
  return new MalformedMessage(`${value} does not fit its type`);
}

function isVariant(value: DBusValue): value is Variant {
  return typeof value === 'object' && 'signature' in value && 'value' in value;
}
