import type { CallOptions } from '../../base/call.ts';
import type { PodUid } from '../../base/ids.ts';
import type { ReopenContainerLogRequest } from '../../gen/cri/api.ts';
import type { ContainerLog } from './container-log.ts';

/** The logs of all containers, by what was last observed. */
export interface ContainerLogs {
  all(): Iterable<ContainerLog>;
  of(uid: PodUid): Iterable<ContainerLog>;
}

export interface LogRuntime {
  /** The container writes on into a new file at its log path. */
  reopenContainerLog(request: ReopenContainerLogRequest, options?: CallOptions): Promise<unknown>;
}

/** The files of logs, as far as rotating needs them. Failures are TubeletErrors. Links are never followed. */
export interface LogFiles {
  /** In bytes; nothing when there is no such file. */
  size(path: string): Promise<number | undefined>;
  /** Names in a folder that begin so, the last ones where there are very many; none when the folder is not there. */
  list(folder: string, beginning: string): Promise<readonly string[]>;
  rename(from: string, to: string): Promise<void>;
  /** Like a rename, but fails with `alreadyExists` where there is something at the new name. */
  renameBack(from: string, to: string): Promise<void>;
  /** Without effect where the file does not exist. */
  remove(path: string): Promise<void>;
  /** Writes the file's content, compressed, into a new file of the same mode. Memory does not grow with the file. */
  compress(from: string, to: string, signal: AbortSignal): Promise<void>;
}

export interface LogWatch {
  /** Calls `onChange`, at least once, when a file is written to, moved or removed. Throws when it cannot watch. */
  watch(path: string, onChange: () => void): () => void;
}

/** The folder of links to logs. */
export interface LinkFiles {
  makeFolder(path: string, mode: number): Promise<void>;
  /** Names in a folder, as they come; none when the folder is not there. */
  names(folder: string): AsyncIterable<string>;
  /** Where a link leads; nothing when there is no link. */
  readLink(path: string): Promise<string | undefined>;
  /** Whether there is something, links followed. */
  exists(path: string): Promise<boolean>;
  /** Fails with `alreadyExists` where there is something at the path. */
  link(path: string, target: string): Promise<void>;
  removeLink(path: string): Promise<void>;
}

/** What reading the end of a log needs. */
export interface TailFiles {
  /** Names in a folder that begin so, the last ones where there are very many. */
  list(folder: string, beginning: string): Promise<readonly string[]>;
  size(path: string): Promise<number | undefined>;
  /** Fewer bytes where the file ends before. */
  read(path: string, start: number, length: number): Promise<Buffer>;
  /** The last bytes of what is in a compressed file. Memory does not grow with the file. */
  readCompressedEnd(path: string, length: number): Promise<Buffer>;
}
