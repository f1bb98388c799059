import { accessFiles } from '../../apiserver/index.ts';
import {
  hostFiles,
  hostLogFiles,
  journalRunner,
  nodeFiles,
  nodeLogsOn,
  type ForeignStorage,
} from '../../host/index.ts';
import type { AuthorityFiles } from '../../server/auth/index.ts';
import type { ServedFiles } from '../../server/index.ts';

/** The files of this machine that clients may read, or have written. */
export function servedFiles(
  storage: ForeignStorage,
  environment: Readonly<Record<string, string | undefined>>,
): ServedFiles {
  return {
    containerLogs: hostLogFiles,
    nodeLogs: { open: nodeLogsOn(storage) },
    journal: journalRunner({ environment }),
    checkpoints: hostFiles,
  };
}

/** The file of certificate authorities of clients. */
export const authorityFiles: AuthorityFiles = {
  ...accessFiles,
  watch: (folder, onChange, onError) => nodeFiles.watch(folder, onChange, onError),
};
