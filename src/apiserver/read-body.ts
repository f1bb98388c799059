import { promisify } from 'node:util';
import { TubeletError } from '../base/errors.ts';
import type { TransportAnswer } from './ports.ts';

/** More than any list page needs; an answer without end must not take the memory of the node. */
const mostBytes = 256 * 1024 * 1024;

export interface ReadOptions {
  readonly limitBytes?: number;
  /** Told how long the body was, as it came. */
  readonly onSize?: (bytes: number) => void;
}

/** The whole body as text, unpacked where the server packed it. */
export async function readBody(answer: TransportAnswer, options: ReadOptions = {}): Promise<string> {
  const { limitBytes = mostBytes, onSize } = options;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.byteLength;
    if (size > limitBytes) throw tooLong(limitBytes);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  onSize?.(size);
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' || bytes.length === 0) return bytes.toString('utf8');
  if (encoding !== 'gzip') throw new TubeletError('unavailable', `the answer is packed with ${encoding}, not gzip`);
  return unpack(bytes, limitBytes);
}

async function unpack(bytes: Buffer, limitBytes: number): Promise<string> {
  // Few answers are packed; who gets none does not load it.
  const { gunzip } = await import('node:zlib');
  try {
    const text = await promisify(gunzip)(bytes, { maxOutputLength: limitBytes });
    return text.toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(limitBytes);
    throw new TubeletError('unavailable', 'the packed answer cannot be unpacked', { cause: error });
  }
}

function tooLong(limitBytes: number): TubeletError {
  return new TubeletError('unavailable', `the answer is longer than ${limitBytes} bytes`);
}
