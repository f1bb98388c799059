import type { ErrorKind } from '../base/errors.ts';
import type { FileFacts } from '../model/file-facts.ts';
import type { GroupAccess } from '../model/group-access.ts';
import type { ForeignMount } from './foreign-mounts.ts';

/** What is known of a file system. */
export interface FilesystemFacts {
  readonly bsize: number;
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  readonly files: number;
  readonly ffree: number;
}

/** A path that is held open in another process. */
export interface HeldPath {
  readonly handle: number;
  readonly isFolder: boolean;
  /** `/proc/<pid>/fd/<number>` */
  readonly source: string;
}

/** The calls that either process can make, by name. Arguments and answers are plain data. */
export interface StorageCalls {
  stat(path: string): Promise<FileFacts | undefined>;
  makeFolder(path: string, mode: number): Promise<void>;
  makeFile(path: string, mode: number): Promise<void>;
  makeBelow(volumePath: string, subPath: string): Promise<void>;
  openBelow(volumePath: string, subPath: string): Promise<HeldPath>;
  isAt(handle: number, path: string): Promise<boolean>;
  close(handle: number): Promise<void>;
  statfs(path: string): Promise<FilesystemFacts>;
  deviceBytes(path: string): Promise<number>;
  bind(source: string, target: string): Promise<void>;
  change(target: string, flags: number, what: string): Promise<void>;
  unmount(target: string): Promise<void>;
  changeTree(path: string, access: GroupAccess): Promise<void>;
}

export type StorageVerb = keyof StorageCalls;

export type StorageRequest =
  | {
      readonly id: number;
      readonly verb: StorageVerb;
      readonly args: readonly unknown[];
      /** Resolved first: the call is not made when the path leads into a mount that is not cleared. */
      readonly path?: string;
      /** Devices of the mounts that may be entered, beside file systems in memory. */
      readonly cleared: readonly string[];
    }
  | { readonly abort: number };

export type StorageAnswer =
  | { readonly id: number; readonly value?: unknown }
  | { readonly id: number; readonly failed: { readonly kind: ErrorKind; readonly message: string } }
  | { readonly id: number; readonly crossing: readonly ForeignMount[] }
  | { readonly id: number; readonly processed: number };
