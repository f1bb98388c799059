import type { ApiClient } from '../../model/api-client.ts';

/** The disk as keys and certificates need it. */
export interface CertificateFiles {
  /** Kind `notFound` when there is none. Links are followed. */
  readText(path: string): Promise<string>;
  /** A reader, and a machine that loses power, sees the old text or the new, never a part. */
  replace(path: string, text: string, mode: number): Promise<void>;
  /** Makes `path` a symbolic link to `target`, in place of whatever was there, in one step. */
  link(target: string, path: string): Promise<void>;
  /**
   * Renames a file that cannot be used, or the target of a link, so that operators can inspect it; answers its new
   * name.
   */
  putAside(path: string): Promise<string>;
  /** A missing file is no error. */
  remove(path: string): Promise<void>;
  makeFolder(path: string, mode: number): Promise<void>;
}

/** Requests about certificate signing requests. */
export type CsrApi = Pick<ApiClient, 'get' | 'create'>;

/** A connection to the API server for one request for a certificate. */
export interface CsrConnection {
  readonly api: CsrApi;
  close(): Promise<void>;
}
