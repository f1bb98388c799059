import { TubeletError } from '../../src/base/errors.ts';
import type { Files } from '../../src/pods/directories/index.ts';
import type { CsiFiles } from '../../src/volumes/csi/index.ts';
import type { MountPrograms, VolumeHost } from '../../src/volumes/index.ts';
import type { Life } from './life.ts';

type AllFiles = Files & Pick<CsiFiles, 'replaceFile' | 'removeFile'>;

/** The machine as one life of the agent reaches it: every call may be the last, and takes as long as the disk. */
export function lifeFiles(life: Life, real: AllFiles): AllFiles {
  const slow = <T>(verb: string, path: string, run: () => Promise<T>): Promise<T> => life.onDisk(verb, path, run);
  return {
    makeFolder: (path, mode) => slow('makeFolder', path, () => real.makeFolder(path, mode)),
    writeFile: (path, content, mode) => slow('writeFile', path, () => real.writeFile(path, content, mode)),
    readText: (path) => slow('readText', path, () => real.readText(path)),
    list: (path, keep) => slow('list', path, () => real.list(path, keep)),
    removeTree: (path) => slow('removeTree', path, () => real.removeTree(path)),
    removeEmpty: (path) => slow('removeEmpty', path, () => real.removeEmpty(path)),
    replaceFile: (path, content, mode) => slow('writeFile', path, () => real.replaceFile(path, content, mode)),
    removeFile: (path) => slow('removeTree', path, () => real.removeFile(path)),
  };
}

export function lifeVolumeHost(life: Life, real: VolumeHost): VolumeHost {
  const slow = <T extends object>(part: T): T =>
    eachCall(part, (verb, args, call) => life.onDisk(verb, args[0], async () => call()));
  return {
    files: slow(real.files),
    contents: slow(real.contents),
    paths: slow(real.paths),
    ownPaths: slow(real.ownPaths),
    mounts: slow(real.mounts),
  };
}

export function lifeMountPrograms(life: Life, real: MountPrograms): MountPrograms {
  return {
    mount: (wish, signal) => life.through('run mount', wish.target, (linked) => real.mount(wish, linked), signal),
    unmount: (target, how, signal) =>
      life.through('run umount', target, (linked) => real.unmount(target, how, linked), signal),
  };
}

/** Parts that answer later. */
export function lifeAsked<T extends object>(life: Life, real: T): T {
  return eachCall(real, (verb, args, call) => life.passing(verb, args[0], async () => call()));
}

/** Parts that answer at once: the dead are told off. */
export function lifeAtOnce<T extends object>(life: Life, real: T): T {
  return eachCall(real, (_, __, call) => {
    if (life.dead) throw new TubeletError('cancelled', 'the caller is dead');
    return call();
  });
}

type Handle = (verb: string, args: readonly unknown[], call: () => unknown) => unknown;

function eachCall<T extends object>(real: T, handle: Handle): T {
  return new Proxy(real, {
    get: (target, verb) => {
      const member: unknown = Reflect.get(target, verb);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]): unknown =>
        handle(String(verb), args, () => Reflect.apply(member, target, [...args]) as unknown);
    },
  });
}
