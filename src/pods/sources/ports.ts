import type { Masked } from '../../base/masked.ts';
import type { FileInfo } from '../../model/file-facts.ts';

/** The part of the file system that a source reads. Failures are TubeletErrors, of kind `notFound` for a missing path. */
export interface Files {
  readdir(path: string): Promise<readonly string[]>;
  stat(path: string): Promise<FileInfo>;
  readFile(path: string): Promise<Uint8Array>;
  /**
   * Reports each change in a folder, in order, by the name of the entry where the system gives one. Throws when the path
   * cannot be watched. The returned function ends the watch.
   */
  watch(path: string, onChange: OnPathChange, onError: (error: unknown) => void): () => void;
}

/** `entry`: the name was added, removed or given to another file. `content`: its file was written to. */
export type OnPathChange = (name: string | undefined, kind: 'entry' | 'content') => void;

/** Header → values. They may be credentials. */
export type HttpHeaders = Masked<Readonly<Record<string, readonly string[]>>>;

export interface HttpAnswer {
  readonly status: number;
  /** The Location header. */
  readonly location: string | undefined;
  /** Throws when the body is cut off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the connection; to be called however much of the body was read. */
  close(): void;
}

/** One GET, without following anything; the signal ends it at any point, also while the body comes. */
export interface HttpClient {
  get(url: URL, headers: HttpHeaders, signal: AbortSignal): Promise<HttpAnswer>;
}
