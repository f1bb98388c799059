import { getSystemErrorName } from 'node:util';
import { TubeletError, type ErrorKind } from '../base/errors.ts';

/** The few calls of the C library that Node has no word for. Each answers -1 on failure; `errno` then says why. */
export interface Libc {
  flock(fd: number, operation: number): number;
  fcntl(fd: number, command: number, argument: number): number;
  inotifyInit(flags: number): number;
  inotifyAddWatch(fd: number, path: string, mask: number): number;
  socket(domain: number, type: number, protocol: number): number;
  sendto(fd: number, data: Uint8Array, flags: number, address: Uint8Array): number;
  mount(source: string, target: string, fsType: string | null, flags: number, data: string | null): number;
  umount2(target: string, flags: number): number;
  errno(): number;
}

let loading: Promise<Libc> | undefined;

/** Loads the foreign-function library when the first caller needs it, for most runs of the program never do. */
export function loadLibc(): Promise<Libc> {
  loading ??= bindLibc();
  return loading;
}

async function bindLibc(): Promise<Libc> {
  const koffi = await import('koffi');
  const library = koffi.load(null);
  const bind = (definition: string): ((...args: readonly unknown[]) => number) => library.func(definition);
  const flock = bind('int flock(int fd, int operation)');
  const fcntl = bind('int fcntl(int fd, int command, ...)');
  const inotifyInit = bind('int inotify_init1(int flags)');
  const inotifyAddWatch = bind('int inotify_add_watch(int fd, const char *path, uint32_t mask)');
  const socket = bind('int socket(int domain, int type, int protocol)');
  const sendto = bind(
    'long sendto(int fd, const void *data, size_t length, int flags, const void *address, uint32_t addressLength)',
  );
  const mount = bind(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  );
  const umount2 = bind('int umount2(const char *target, int flags)');
  return {
    flock: (fd, operation) => flock(fd, operation),
    fcntl: (fd, command, argument) => fcntl(fd, command, 'int', argument),
    inotifyInit: (flags) => inotifyInit(flags),
    inotifyAddWatch: (fd, path, mask) => inotifyAddWatch(fd, path, mask),
    socket: (domain, type, protocol) => socket(domain, type, protocol),
    sendto: (fd, data, flags, address) => sendto(fd, data, data.length, flags, address, address.length),
    mount: (source, target, fsType, flags, data) => mount(source, target, fsType, flags, data),
    umount2: (target, flags) => umount2(target, flags),
    errno: () => koffi.errno(),
  };
}

const kinds = new Map<string, ErrorKind>([
  ['ENOENT', 'notFound'],
  ['EEXIST', 'alreadyExists'],
  ['EACCES', 'denied'],
  ['EPERM', 'denied'],
  ['EINVAL', 'invalid'],
  ['EMFILE', 'exhausted'],
  ['ENFILE', 'exhausted'],
  ['ENOSPC', 'exhausted'],
  ['ECONNREFUSED', 'unavailable'],
  ['EAGAIN', 'unavailable'],
  ['EBUSY', 'conflict'],
  ['ENOSYS', 'unsupported'],
]);

/** The error of a call that answered -1. Read it before anything else calls into the library. */
export function libcError(libc: Libc, call: string, what: string): TubeletError {
  const code = getSystemErrorName(-libc.errno());
  return new TubeletError(kinds.get(code) ?? 'internal', `${call} ${what}: ${code}`);
}
