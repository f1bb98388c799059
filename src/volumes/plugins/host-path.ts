import { TubeletError } from '../../base/errors.ts';
import type { FileKind, HostPaths, VolumeFiles, VolumePlugin } from '../ports.ts';

const folderMode = 0o755;
const fileMode = 0o644;

/** What must stand at the path, and the words for its not being one. */
const checks: ReadonlyMap<string, readonly [FileKind, string]> = new Map([
  ['Directory', ['folder', 'a directory']],
  ['DirectoryOrCreate', ['folder', 'a directory']],
  ['File', ['file', 'a file']],
  ['FileOrCreate', ['file', 'a file']],
  ['Socket', ['socket', 'a socket file']],
  ['CharDevice', ['charDevice', 'a character device']],
  ['BlockDevice', ['blockDevice', 'a block device']],
]);

export interface HostPathDeps {
  readonly files: Pick<VolumeFiles, 'makeFolder'>;
  readonly paths: Pick<HostPaths, 'lookAt' | 'makeFile'>;
}

/** hostPath: the node's own path, taken as it is. Nothing of it is ours to remove, whoever made it. */
export function hostPath({ files, paths }: HostPathDeps): VolumePlugin {
  return {
    handles: (volume) => volume.hostPath !== undefined,
    async setUp({ volume }) {
      const { path = '', type = '' } = volume.hostPath ?? {};
      if (path.split('/').includes('..')) {
        throw new TubeletError('invalid', `hostPath ${path} must not contain '..'`);
      }
      const check = checks.get(type);
      if (type !== '' && check === undefined) {
        throw new TubeletError('invalid', `hostPath type check failed: ${type} is an invalid volume type`);
      }
      if (check !== undefined) {
        if ((await paths.lookAt(path)) === undefined) await create(type, path);
        await requireKind(path, ...check);
      }
      return { hostPath: path };
    },
  };

  async function create(type: string, path: string): Promise<void> {
    if (type === 'DirectoryOrCreate') await files.makeFolder(path, folderMode);
    if (type === 'FileOrCreate') await paths.makeFile(path, fileMode);
  }

  async function requireKind(path: string, kind: FileKind, words: string): Promise<void> {
    if ((await paths.lookAt(path))?.kind === kind) return;
    throw new TubeletError('invalid', `hostPath type check failed: ${path} is not ${words}`);
  }
}
