/** One entry of an archive. Owner is always root and time always the epoch, so that equal content has equal bytes. */
export type TarEntry =
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly content: Buffer }
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string };

const block = 512;
const typeFlags = { file: '0', symlink: '2', directory: '5' } as const;

/** A POSIX (ustar) archive of the entries in the order given. */
export function writeTar(entries: readonly TarEntry[]): Buffer {
  const parts: Buffer[] = [];
  for (const entry of entries) {
    parts.push(header(entry));
    if (entry.kind !== 'file') continue;
    parts.push(entry.content, Buffer.alloc((block - (entry.content.length % block)) % block));
  }
  // Two empty blocks end an archive.
  parts.push(Buffer.alloc(2 * block));
  return Buffer.concat(parts);
}

function header(entry: TarEntry): Buffer {
  const bytes = Buffer.alloc(block);
  const path = entry.kind === 'directory' ? `${entry.path}/` : entry.path;
  const target = entry.kind === 'symlink' ? entry.target : '';
  if (Buffer.byteLength(path) > 100 || Buffer.byteLength(target) > 100) {
    throw new RangeError(`a path in a ustar archive holds at most 100 bytes: ${path}`);
  }
  bytes.write(path, 0);
  writeOctal(bytes, 100, 8, entry.kind === 'symlink' ? 0o777 : entry.mode);
  writeOctal(bytes, 108, 8, 0);
  writeOctal(bytes, 116, 8, 0);
  writeOctal(bytes, 124, 12, entry.kind === 'file' ? entry.content.length : 0);
  writeOctal(bytes, 136, 12, 0);
  bytes.write(typeFlags[entry.kind], 156);
  bytes.write(target, 157);
  bytes.write('ustar', 257);
  bytes.write('00', 263);
  bytes.write('root', 265);
  bytes.write('root', 297);
  // The checksum counts its own field as spaces.
  bytes.fill(' ', 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

function writeOctal(bytes: Buffer, at: number, width: number, value: number): void {
  bytes.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at);
}
