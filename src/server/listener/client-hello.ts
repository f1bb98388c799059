import type { Socket } from 'node:net';

const headBytes = 5;
const handshakeRecord = 0x16;
const maxRecordBytes = 16 * 1024;

/** How many bytes the first record of TLS has, as far as its header has come; undefined for what is no TLS. */
export function firstRecordBytes(start: Buffer): number | undefined {
  if (start.length > 0 && start[0] !== handshakeRecord) return undefined;
  if (start.length < headBytes) return headBytes;
  const length = start.readUInt16BE(3);
  return length > maxRecordBytes ? undefined : headBytes + length;
}

/**
 * Waits for the first message of a TLS client, and puts it back for the TLS server. Also done when it is no TLS: the
 * library refuses it in its own words. A client that leaves before is forgotten.
 */
export function awaitHello(socket: Socket, done: () => void): void {
  let start = Buffer.alloc(0);
  const onReadable = (): void => {
    for (let piece = read(socket); piece !== undefined; piece = read(socket)) start = Buffer.concat([start, piece]);
    const wanted = firstRecordBytes(start);
    if (wanted !== undefined && start.length < wanted) return;
    socket.off('readable', onReadable).off('end', onEnd);
    socket.unshift(start);
    done();
  };
  const onEnd = (): void => void socket.destroy();
  socket.on('readable', onReadable).once('end', onEnd);
}

function read(socket: Socket): Buffer | undefined {
  const piece = socket.read() as Buffer | null;
  return piece ?? undefined;
}
