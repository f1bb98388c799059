import type { ContainerId } from '../../base/ids.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import type { LogFacts } from '../../model/file-facts.ts';

/** Whose logs there are. */
export interface LogSources {
  /** With its status as the agent sees it now; a mirror pod's name leads to the static pod. */
  pod(namespace: string, name: string): { readonly pod: Pod } | undefined;
  /** Where the runtime writes the log of a container, running or not. */
  logPath(id: ContainerId, signal: AbortSignal): Promise<string>;
  isRunning(id: ContainerId, signal: AbortSignal): Promise<boolean>;
}

/** The files of container logs. Failures are TubeletErrors; what is no plain file is `denied`, and never waited for. */
export interface ContainerLogFiles {
  /** Without the links in it; `denied` where one leads to what is not this container's log. */
  resolve(path: string, containerId?: string): Promise<string>;
  /** Follows no links: for paths without any. */
  open(path: string): Promise<OpenLog>;
  /** What stands at a path now; nothing when there is nothing. */
  stat(path: string): Promise<LogFacts | undefined>;
  /** Names in a folder that begin so, the last ones where there are very many; none when the folder is not there. */
  list(folder: string, beginning: string): Promise<readonly string[]>;
  /** Tells which name in a folder may have changed, where it is known. Throws when it cannot watch. */
  watch(folder: string, onChange: (name: string | undefined) => void, onError: (error: unknown) => void): () => void;
}

/** A file that stays the same when it is renamed or removed. */
export interface OpenLog {
  readonly identity: string;
  size(): Promise<number>;
  /** Reads into the buffer; answers how many bytes, none at the end of the file. */
  read(buffer: Buffer, position: number, length: number): Promise<number>;
  close(): Promise<void>;
}
