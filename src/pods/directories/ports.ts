/** The file system as far as pod directories need it. Paths are absolute; every mode is given, and the umask does not change it. */
export interface Files {
  /** Makes a folder and those above it; one that is there gets the mode. */
  makeFolder(path: string, mode: number): Promise<void>;
  /** Replaces the file's content. */
  writeFile(path: string, content: string, mode: number): Promise<void>;
  readText(path: string): Promise<string>;
  /** Names in a folder, filtered by `keep` where other programs may fill it; none when the folder does not exist. */
  list(path: string, keep?: (name: string) => boolean): Promise<readonly string[]>;
  /** Removes a tree without following links and without crossing mounts; without effect where it does not exist. */
  removeTree(path: string): Promise<void>;
  /** Removes an empty folder, and fails for any other; without effect where it does not exist. */
  removeEmpty(path: string): Promise<void>;
}
