const plain = 'text/plain; charset=utf-8';
const binary = 'application/octet-stream';

/** By the first bytes, as far as they say it. */
const beginnings: readonly (readonly [readonly number[], string])[] = [
  [[0x1f, 0x8b, 0x08], 'application/x-gzip'],
  [[0x50, 0x4b, 0x03, 0x04], 'application/zip'],
];

/**
 * What a log file holds, by its first bytes. Nothing is ever called a page or a script, whatever its name: what stands
 * in logs was written by workloads that are not trusted.
 */
export function contentTypeOf(head: Buffer): string {
  for (const [bytes, type] of beginnings) {
    if (bytes.every((byte, index) => head[index] === byte)) return type;
  }
  return head.some(isBinary) ? binary : plain;
}

/** Control characters that no text has; tab, line ends, form feed and escape are in many logs. */
function isBinary(byte: number): boolean {
  return byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);
}
