import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { TubeletError } from '../base/errors.ts';
import { mappedError } from './files.ts';
import { libcError, loadLibc } from './libc.ts';

const rlimitNoFile = 7;
/** All ids there are, each as itself. */
const wholeUidMap = /^\s*0\s+0\s+4294967295\s*$/;

/** This process among those of the machine. */
export function ownProcess(proc = '/proc') {
  const score = `${proc}/self/oom_score_adj`;
  return {
    oomScoreAdj: (): number => Number(readFileSync(score, 'utf8').trim()),

    setOomScoreAdj(value: number): void {
      try {
        writeFileSync(score, String(value));
      } catch (error) {
        throw mappedError(error);
      }
    },

    /** Soft and hard limit at once: RLIMIT_NOFILE. */
    async setMaxOpenFiles(count: number): Promise<void> {
      const libc = await loadLibc();
      const limits = new BigUint64Array([BigInt(count), BigInt(count)]);
      if (libc.setrlimit(rlimitNoFile, limits) !== 0) throw libcError(libc, 'setrlimit', `RLIMIT_NOFILE ${count}`);
    },

    /** Without namespaces of users the kernel has no such file. */
    inUserNamespace(): boolean {
      const file = `${proc}/self/uid_map`;
      return existsSync(file) && !wholeUidMap.test(readFileSync(file, 'utf8'));
    },

    /** If the first process is unreadable, this is a hardened machine and not a container. */
    hasPidsOfMachine(): boolean {
      const own = readlinkSync(`${proc}/self/ns/pid`);
      try {
        return readlinkSync(`${proc}/1/ns/pid`) === own;
      } catch (error) {
        if (['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return true;
        throw error;
      }
    },
  };
}

/** Settings of the kernel, by their path below /proc/sys. */
export function kernelTunables(sys = '/proc/sys') {
  return {
    read(name: string): string {
      try {
        return readFileSync(`${sys}/${name}`, 'utf8');
      } catch (error) {
        throw plainError('open', `${sys}/${name}`, error);
      }
    },

    write(name: string, value: string): void {
      try {
        writeFileSync(`${sys}/${name}`, value);
      } catch (error) {
        throw plainError('write', `${sys}/${name}`, error);
      }
    },
  };
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
  EINVAL: 'invalid argument',
};

/** In the words of the system, as operators search for them. */
function plainError(call: string, path: string, error: unknown): TubeletError {
  const mapped = mappedError(error);
  const kind = mapped instanceof TubeletError ? mapped.kind : 'internal';
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return new TubeletError(kind, `${call} ${path}: ${words[code] ?? code}`);
}
