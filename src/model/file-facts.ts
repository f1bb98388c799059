/** Owner and mode of a file; the agent's own user and group where unset. */
export interface FileAccess {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

export interface ContentFile extends FileAccess {
  readonly content: Uint8Array;
}

export type FileKind = 'file' | 'folder' | 'link' | 'socket' | 'charDevice' | 'blockDevice' | 'pipe';

export interface FileFacts {
  readonly kind: FileKind;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** The target of a path, symbolic links followed. */
export interface FileInfo {
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  /** Changes when another file or folder has the path. */
  readonly identity: string;
  /** Changes when the content may have changed. */
  readonly version: string;
}

/** A file of a log. */
export interface LogFacts {
  /** The same for one file under all its names, and never for two files that exist at the same time. */
  readonly identity: string;
  readonly size: number;
}

/** An entry of a folder of logs. */
export interface LogEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** An entry of the folder in which plugins make their registration sockets. */
export interface RegistryEntry {
  readonly name: string;
  readonly kind: 'folder' | 'socket';
}

/** The arguments of mount(8). */
export interface MountSpec {
  readonly fsType: string;
  readonly source: string;
  readonly target: string;
  readonly options: readonly string[];
}
