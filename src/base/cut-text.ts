/**
 * The maximum of output of a container, a process or the runtime in a status, an event or a log line. A Go kubelet keeps
 * as much of a probe's output.
 */
export const maxMessageBytes = 10 * 1_024;

/** The beginning of some pieces as text. No string is made of the rest. */
export function cutBytes(maxBytes: number, ...pieces: readonly Uint8Array[]): string {
  const kept: Uint8Array[] = [];
  let left = maxBytes;
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push(piece.subarray(0, left));
    left -= piece.length;
  }
  return Buffer.concat(kept).toString('utf8');
}

/** The beginning of a text, as a string of its own: a mere slice would keep the whole of it in memory. */
export function cutText(text: string, maxBytes: number = maxMessageBytes): string {
  // A character takes a byte at least and three at most.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes));
  if (text.length <= maxBytes && bytes.length <= maxBytes) return text;
  return withoutBrokenEnd(bytes.subarray(0, maxBytes).toString('utf8'));
}

/** A character that was cut in two has become a replacement character. */
function withoutBrokenEnd(text: string): string {
  return text.endsWith('\uFFFD') ? text.slice(0, -1) : text;
}
