import { describeError, isKind, messageOf, TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { SetupFolders } from './ports.ts';
import { sharingOf } from './root-sharing.ts';

export interface RootDirectorySettings {
  readonly rootDir: string;
  readonly podLogsDir: string;
  /** The feature gate ContainerCheckpoint. */
  readonly checkpoints: boolean;
  readonly hasSelinux: boolean;
}

const mode = 0o750;
/** A checkpoint holds the memory of its container. */
const checkpointMode = 0o700;
/** Plugins run in containers and make their sockets there. */
const pluginsLabel = 'system_u:object_r:container_file_t:s0';

/** The root directory, shared, with the folders in it. */
export async function setUpRootDirectory(
  folders: SetupFolders,
  { rootDir, podLogsDir, checkpoints, hasSelinux }: RootDirectorySettings,
  log: Log,
): Promise<void> {
  const ensure = async (path: string, what: string, withMode = mode): Promise<void> => {
    try {
      await folders.ensure(path, withMode);
    } catch (error) {
      throw new TubeletError('internal', `error creating ${what} directory: ${describeError(error)}`, { cause: error });
    }
  };
  await ensure(rootDir, 'root');
  await ensure(podLogsDir, 'pod logs root');
  await share(folders, rootDir, log);
  await ensure(`${rootDir}/pods`, 'pods');
  await ensure(`${rootDir}/plugins`, 'plugins');
  await ensure(`${rootDir}/plugins_registry`, 'plugins registry');
  await ensure(`${rootDir}/pod-resources`, 'podresources');
  if (checkpoints) await ensure(`${rootDir}/checkpoints`, 'checkpoint', checkpointMode);
  if (!hasSelinux) return;
  for (const path of [`${rootDir}/plugins_registry`, `${rootDir}/plugins`]) {
    try {
      await folders.setLabel(path, pluginsLabel);
    } catch (error) {
      log.warn('Unprivileged containerized plugins might not work, could not set selinux context', {
        path,
        err: messageOf(error),
      });
    }
  }
}

async function share(folders: SetupFolders, rootDir: string, log: Log): Promise<void> {
  const path = await folders.real(rootDir);
  const sharing = sharingOf(path, folders.mounts());
  const lost = 'mounts that containers make by mountPropagation Bidirectional are seen by no other container';
  if (sharing.kind === 'shared') return;
  if (sharing.kind === 'inUse') {
    log.warn('The root directory stays unshared until no volumes are mounted in it', {
      path,
      below: sharing.below,
      lost,
    });
    return;
  }
  try {
    await folders.bindOntoItself(path);
    await folders.makeShared(path);
    log.info('The root directory was mounted onto itself and shared', { path });
  } catch (error) {
    if (!isKind(error, 'denied')) {
      throw new TubeletError('internal', `error configuring root directory: ${describeError(error)}`, { cause: error });
    }
    log.warn('The root directory cannot be shared for lack of privilege', { path, err: messageOf(error), lost });
  }
}
