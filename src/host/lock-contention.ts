import { closeSync, readSync } from 'node:fs';
import { libcError, loadLibc, type Libc } from './libc.ts';

/** What happened to the file, from the kernel's event. */
type Contention = 'opened' | 'deleted';

interface ContentionWatch {
  /** May be called twice. */
  close(): void;
}

const inOpen = 0x20;
const inDeleteSelf = 0x400;
const closeOnExec = 0o2000000;
const nonBlocking = 0o4000;
const signalled = 0o20000;
const setFlags = 4;
const setOwner = 8;
const eventHeadBytes = 16;

/**
 * Reports once when another process opens or deletes a file, as another agent does that wants its lock. fs.watch does
 * not report opening, so an inotify descriptor of our own watches the file. The kernel announces its events by SIGIO,
 * which costs neither a waiting thread nor a timer; the events themselves are then read without blocking.
 */
export async function watchContention(
  path: string,
  onContention: (what: Contention) => void,
): Promise<ContentionWatch> {
  const libc = await loadLibc();
  const fd = libc.inotifyInit(closeOnExec | nonBlocking);
  if (fd === -1) throw libcError(libc, 'inotify_init1', path);
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    // No signal comes after the descriptor is closed; only then may the listener be removed, because SIGIO without one
    // kills.
    closeSync(fd);
    process.removeListener('SIGIO', checkContention);
  };
  const checkContention = (): void => {
    const what = open ? readContention(fd) : undefined;
    if (what === undefined) return;
    close();
    onContention(what);
  };
  process.on('SIGIO', checkContention);
  try {
    arm(libc, fd, path);
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

function arm(libc: Libc, fd: number, path: string): void {
  if (libc.fcntl(fd, setOwner, process.pid) === -1) throw libcError(libc, 'fcntl F_SETOWN', path);
  if (libc.fcntl(fd, setFlags, nonBlocking | signalled) === -1) throw libcError(libc, 'fcntl F_SETFL', path);
  if (libc.inotifyAddWatch(fd, path, inOpen | inDeleteSelf) === -1) throw libcError(libc, 'inotify_add_watch', path);
}

/** The first event that is queued, if any: SIGIO may have been for another descriptor. */
function readContention(fd: number): Contention | undefined {
  const buffer = Buffer.alloc(4096);
  let length: number;
  try {
    length = readSync(fd, buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
  for (let at = 0; at + eventHeadBytes <= length; at += eventHeadBytes + readWord(buffer, at + 12)) {
    const mask = readWord(buffer, at + 4);
    if ((mask & inDeleteSelf) !== 0) return 'deleted';
    if ((mask & inOpen) !== 0) return 'opened';
  }
  return undefined;
}

/** The kernel writes in the machine's byte order; every Linux machine that Node supports but one is little-endian. */
function readWord(buffer: Buffer, at: number): number {
  return process.arch === 's390x' ? buffer.readUInt32BE(at) : buffer.readUInt32LE(at);
}
