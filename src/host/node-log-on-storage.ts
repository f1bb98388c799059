import { Limiter } from '../base/limiter.ts';
import type { ForeignStorage } from './foreign-storage.ts';
import { openNodeLog, type HostNodeLog, type HostNodeLogFolder } from './log-files.ts';

/** Of the threads that do the agent's own work on files. */
const maxForeign = 2;

/**
 * Logs below folders in which other programs mount file systems, or to which their links lead. Such a file system must
 * have answered before it is read, and if it stops answering, all its readers together occupy few threads.
 */
export function nodeLogsOn(
  storage: Pick<ForeignStorage, 'probe'>,
  open: typeof openNodeLog = openNodeLog,
): typeof openNodeLog {
  const foreign = new Limiter(maxForeign);
  return async (path, folders) => {
    if (!(await storage.probe(path))) return open(path, folders);
    return limited(await foreign.run(() => open(path, folders)), foreign);
  };
}

function limited(log: HostNodeLog | HostNodeLogFolder, foreign: Limiter): HostNodeLog | HostNodeLogFolder {
  const close = (): Promise<void> => foreign.run(() => log.close());
  if (log.kind === 'folder') {
    return {
      kind: log.kind,
      modifiedMs: log.modifiedMs,
      list: (maxEntries) => foreign.run(() => log.list(maxEntries)),
      close,
    };
  }
  const { kind, modifiedMs, size } = log;
  const read: HostNodeLog['read'] = (...words) => foreign.run(() => log.read(...words));
  return { kind, modifiedMs, size, read, close };
}
