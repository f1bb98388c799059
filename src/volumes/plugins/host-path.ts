import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { HostPathVolumeSource } from '../../gen/kubernetes/types.ts';
import type { FileKind } from '../../model/file-facts.ts';
import type { HostPaths, VolumePlugin, VolumeRequest } from '../ports.ts';
import { VolumeStepError } from '../volume-failures.ts';

const folderMode = 0o755;
const fileMode = 0o644;

/** The kind of file that must be at the path, and its name in the error. */
const checks: ReadonlyMap<string, readonly [FileKind, string]> = new Map([
  ['Directory', ['folder', 'a directory']],
  ['DirectoryOrCreate', ['folder', 'a directory']],
  ['File', ['file', 'a file']],
  ['FileOrCreate', ['file', 'a file']],
  ['Socket', ['socket', 'a socket file']],
  ['CharDevice', ['charDevice', 'a character device']],
  ['BlockDevice', ['blockDevice', 'a block device']],
]);

interface HostPathDeps {
  readonly paths: Pick<HostPaths, 'stat' | 'makeFolder' | 'makeFile'>;
}

/** hostPath: the node's own path as it is, inline or behind a claim. The agent removes nothing of it. */
export function hostPath({ paths }: HostPathDeps): VolumePlugin {
  return {
    handles: (volume) => volume.hostPath !== undefined,
    handlesClaimed: ({ kind }) => kind === 'hostPath',
    async setUp(request) {
      const { path, type = '' } = hostPathOf(request);
      // Agent and runtime would resolve a relative path from different working directories.
      if (!path.startsWith('/')) throw new TubeletError('invalid', `hostPath "${path}" must be an absolute path`);
      if (path.includes('\0')) throw new TubeletError('invalid', `hostPath ${JSON.stringify(path)} has a zero byte`);
      if (path.split('/').includes('..')) {
        throw new TubeletError('invalid', `hostPath ${path} must not contain '..'`);
      }
      const check = checks.get(type);
      if (type !== '' && check === undefined) {
        throw new TubeletError('invalid', `hostPath type check failed: ${type} is an invalid volume type`);
      }
      if (check !== undefined) {
        await explained(async () => {
          if ((await paths.stat(path)) === undefined) await create(type, path);
          await requireKind(path, ...check);
        });
      }
      if (request.claimed === undefined) return { hostPath: path };
      return { hostPath: path, isOfNode: true, ...(request.claimed.readOnly && { readOnly: true }) };
    },
  };

  async function create(type: string, path: string): Promise<void> {
    if (type === 'DirectoryOrCreate') await paths.makeFolder(path, folderMode);
    if (type === 'FileOrCreate') await paths.makeFile(path, fileMode);
  }

  async function requireKind(path: string, kind: FileKind, words: string): Promise<void> {
    if ((await paths.stat(path))?.kind === kind) return;
    throw new TubeletError('invalid', `hostPath type check failed: ${path} is not ${words}`);
  }
}

/** Where storage does not answer the error names the path. */
async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!isKind(cause, 'unavailable')) throw cause;
    throw new TubeletError('unavailable', `hostPath type check failed: ${messageOf(cause)}`, { cause });
  }
}

function hostPathOf({ volume, claimed }: VolumeRequest): HostPathVolumeSource {
  if (claimed === undefined) return volume.hostPath ?? { path: '' };
  if (claimed.source.kind !== 'hostPath') throw new TubeletError('internal', `volume ${claimed.name} is no hostPath`);
  if (claimed.mode === 'Block') throw new TubeletError('unsupported', 'a hostPath cannot be used as a block device');
  if (claimed.mountOptions.length > 0) {
    const words = 'mount options are not supported for this volume type';
    throw new VolumeStepError('MountVolume.MountOptionSupport check failed', 'unsupported', words);
  }
  return claimed.source.hostPath;
}
