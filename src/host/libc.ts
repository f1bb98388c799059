import { getSystemErrorName } from 'node:util';
import { TubeletError, type ErrorKind } from '../base/errors.ts';

/** The errno of a failed call; 0 for success. */
type ErrorNumber = number;

/**
 * The few calls of the C library that Node does not offer. Each answers -1 on failure; `errno` then gives the reason.
 * Calls that may take long are made in a thread of the pool, and answer their error number themselves.
 */
export interface Libc {
  flock(fd: number, operation: number): number;
  fcntl(fd: number, command: number, argument: number): number;
  inotifyInit(flags: number): number;
  inotifyAddWatch(fd: number, path: string, mask: number): number;
  socket(domain: number, type: number, protocol: number): number;
  connect(fd: number, address: Uint8Array): number;
  /** Fills both buffers, and answers the bytes of the first. */
  recvmsg(fd: number, data: Uint8Array, control: Uint8Array, flags: number): { length: number; controlLength: number };
  sendto(fd: number, data: Uint8Array, flags: number, address: Uint8Array): number;
  /** `limits`: soft and hard, each of 64 bits. */
  setrlimit(resource: number, limits: BigUint64Array): number;
  setxattr(path: string, name: string, value: Uint8Array, flags: number): number;
  mount(
    source: string,
    target: string,
    fsType: string | null,
    flags: number,
    data: string | null,
  ): Promise<ErrorNumber>;
  umount2(target: string, flags: number): Promise<ErrorNumber>;
  errno(): number;
}

let loading: Promise<Libc> | undefined;

/** Loads the foreign-function library at the first use: most runs of the program never need it. */
export function loadLibc(): Promise<Libc> {
  loading ??= bindLibc();
  return loading;
}

async function bindLibc(): Promise<Libc> {
  const koffi = await import('koffi');
  const library = koffi.load(null);
  const bind = (definition: string): ((...args: readonly unknown[]) => number) => library.func(definition);
  const bindAsync = (definition: string): ((...args: readonly unknown[]) => Promise<ErrorNumber>) => {
    const call = library.func(definition);
    return (...args) =>
      new Promise((resolve, reject) => {
        call.async(...args, (error: Error | null, result: number) => {
          // Only inside this callback the error number is that of the thread that made the call.
          if (error === null) resolve(result === 0 ? 0 : koffi.errno());
          else reject(error);
        });
      });
  };
  const flock = bind('int flock(int fd, int operation)');
  const fcntl = bind('int fcntl(int fd, int command, ...)');
  const inotifyInit = bind('int inotify_init1(int flags)');
  const inotifyAddWatch = bind('int inotify_add_watch(int fd, const char *path, uint32_t mask)');
  const socket = bind('int socket(int domain, int type, int protocol)');
  const sendto = bind(
    'long sendto(int fd, const void *data, size_t length, int flags, const void *address, uint32_t addressLength)',
  );
  const setrlimit = bind('int setrlimit(int resource, const void *limits)');
  const setxattr = bind('int setxattr(const char *path, const char *name, const void *value, size_t size, int flags)');
  const connect = bind('int connect(int fd, const void *address, uint32_t addressLength)');
  const vector = koffi.struct({ data: 'void *', length: 'size_t' });
  const header = koffi.struct({
    name: 'void *',
    nameLength: 'uint32_t',
    vectors: koffi.pointer(vector),
    vectorCount: 'size_t',
    control: 'void *',
    controlLength: 'size_t',
    flags: 'int',
  });
  const recvmsg = library.func('recvmsg', 'long', ['int', koffi.inout(koffi.pointer(header)), 'int']);
  const mount = bindAsync(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  );
  const umount2 = bindAsync('int umount2(const char *target, int flags)');
  return {
    flock: (fd, operation) => flock(fd, operation),
    fcntl: (fd, command, argument) => fcntl(fd, command, 'int', argument),
    inotifyInit: (flags) => inotifyInit(flags),
    inotifyAddWatch: (fd, path, mask) => inotifyAddWatch(fd, path, mask),
    socket: (domain, type, protocol) => socket(domain, type, protocol),
    connect: (fd, address) => connect(fd, address, address.length),
    recvmsg: (fd, data, control, flags) => {
      const message = {
        name: null,
        nameLength: 0,
        vectors: { data, length: data.length },
        vectorCount: 1,
        control,
        controlLength: control.length,
        flags: 0,
      };
      const length: number = recvmsg(fd, message, flags);
      return { length, controlLength: message.controlLength };
    },
    sendto: (fd, data, flags, address) => sendto(fd, data, data.length, flags, address, address.length),
    setrlimit: (resource, limits) => setrlimit(resource, limits),
    setxattr: (path, name, value, flags) => setxattr(path, name, value, value.length, flags),
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
  ['EROFS', 'denied'],
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
  return callError(libc.errno(), call, what);
}

export function callError(errorNumber: ErrorNumber, call: string, what: string): TubeletError {
  const code = getSystemErrorName(-errorNumber);
  return new TubeletError(kinds.get(code) ?? 'internal', `${call} ${what}: ${code}`);
}
