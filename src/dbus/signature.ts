import { MalformedMessage } from './values.ts';

const basicCodes = 'ybnqiuxtdsogh';
const maxSignatureLength = 255;
/** Of arrays within arrays, and of structs within structs. */
const maxNesting = 32;

/** One complete type of a signature. */
export type Type =
  | { readonly kind: 'basic'; readonly code: string }
  | { readonly kind: 'variant' }
  | { readonly kind: 'array'; readonly item: Type }
  | { readonly kind: 'struct' | 'entry'; readonly fields: readonly Type[] };

/** The complete types that a signature lists. */
export function parseSignature(signature: string): readonly Type[] {
  if (signature.length > maxSignatureLength) throw new MalformedMessage('a signature is longer than 255 bytes');
  const parser = new SignatureParser(signature);
  const types: Type[] = [];
  while (!parser.atEnd) types.push(parser.type(0, 0));
  return types;
}

/** The type of a signature that has to be exactly one. */
export function parseSingleType(signature: string): Type {
  const [type, ...others] = parseSignature(signature);
  if (type === undefined || others.length > 0) throw new MalformedMessage(`"${signature}" is not one complete type`);
  return type;
}

/** The bytes that a value of the type is aligned to. */
export function alignmentOf(type: Type): 1 | 2 | 4 | 8 {
  if (type.kind === 'basic') return alignments[type.code] ?? 4;
  if (type.kind === 'variant') return 1;
  return type.kind === 'array' ? 4 : 8;
}

const alignments: Readonly<Record<string, 1 | 2 | 8>> = { y: 1, g: 1, n: 2, q: 2, x: 8, t: 8, d: 8 };

/** Whether the type is an array of bytes. */
export function isBytes(type: Type): boolean {
  return type.kind === 'array' && type.item.kind === 'basic' && type.item.code === 'y';
}

class SignatureParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  type(arrays: number, structs: number): Type {
    const code = this.#text[this.#at++] ?? '';
    if (code === 'v') return { kind: 'variant' };
    if (code === 'a') return { kind: 'array', item: this.#item(arrays + 1, structs) };
    if (code === '(') return { kind: 'struct', fields: this.#fields(arrays, structs + 1) };
    if (code !== '' && basicCodes.includes(code)) return { kind: 'basic', code };
    throw this.#fault();
  }

  /** Entries stand in arrays alone. */
  #item(arrays: number, structs: number): Type {
    if (arrays > maxNesting) throw this.#fault();
    if (this.#text[this.#at] !== '{') return this.type(arrays, structs);
    this.#at++;
    if (structs >= maxNesting) throw this.#fault();
    const key = this.type(arrays, structs + 1);
    const value = this.type(arrays, structs + 1);
    if (key.kind !== 'basic' || this.#text[this.#at++] !== '}') throw this.#fault();
    return { kind: 'entry', fields: [key, value] };
  }

  #fields(arrays: number, structs: number): readonly Type[] {
    if (structs > maxNesting) throw this.#fault();
    const fields: Type[] = [];
    while (this.#text[this.#at] !== ')') fields.push(this.type(arrays, structs));
    this.#at++;
    if (fields.length === 0) throw this.#fault();
    return fields;
  }

  #fault(): MalformedMessage {
    return new MalformedMessage(`the signature "${this.#text}" is wrong at ${this.#at}`);
  }
}
