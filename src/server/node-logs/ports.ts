import type { LogEntry } from '../../model/file-facts.ts';

/** The node's own logs. Failures are TubeletErrors. */
export interface NodeLogFiles {
  /**
   * What stands at a path, if it is in truth below one of the folders, links followed. `denied` for what lies
   * elsewhere or is neither a file nor a folder; nothing is waited for.
   */
  open(path: string, folders: readonly string[]): Promise<NodeLogFile | NodeLogFolder>;
}

export interface NodeLogFile {
  readonly kind: 'file';
  readonly modifiedMs: number;
  readonly size: number;
  /** Answers how many bytes, none at the end of the file. */
  read(buffer: Buffer, position: number, length: number): Promise<number>;
  close(): Promise<void>;
}

export interface NodeLogFolder {
  readonly kind: 'folder';
  readonly modifiedMs: number;
  list(most: number): Promise<{ readonly entries: readonly LogEntry[]; readonly more: boolean }>;
  close(): Promise<void>;
}

/** How a program ended. */
type ProgramEnd =
  | { readonly kind: 'ended' }
  /** It is not there, or may not be run. */
  | { readonly kind: 'notStarted'; readonly why: string };

export interface JournalRunner {
  /**
   * Runs journalctl without a shell. What it prints goes to `output`, which is waited for before more is read; when
   * that fails, or the signal aborts, the program is killed and the call rejects.
   */
  run(args: readonly string[], output: (chunk: Uint8Array) => Promise<void>, signal: AbortSignal): Promise<ProgramEnd>;
}
