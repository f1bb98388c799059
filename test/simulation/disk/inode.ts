import type { FileKind } from '../../../src/model/file-facts.ts';

/** A file system: what is on it is gone with its last mount when it is one in memory, and else stays. */
export interface FileSystem {
  readonly kind: 'disk' | 'tmpfs' | 'hugetlbfs' | 'other';
  readonly name: string;
}

/** A file, folder, link or device. Its identity is the object's: a bind shows the same one, a copy would be another. */
export class Inode {
  readonly fs: FileSystem;
  readonly kind: FileKind;
  mode: number;
  uid = 0;
  gid = 0;
  /** Of a file. */
  content = '';
  /** Of a link. */
  target = '';
  /** Of a folder. */
  readonly children = new Map<string, Inode>();
  /** Where it hangs; unset for the top of a file system, and for what was removed. */
  parent: Inode | undefined;
  name = '';

  constructor(fs: FileSystem, kind: FileKind, mode: number) {
    this.fs = fs;
    this.kind = kind;
    this.mode = mode;
  }

  add(name: string, child: Inode): Inode {
    this.children.set(name, child);
    child.parent = this;
    child.name = name;
    return child;
  }

  drop(name: string): void {
    const child = this.children.get(name);
    if (child !== undefined) child.parent = undefined;
    this.children.delete(name);
  }

  /** Whether it is this one or below it. */
  isWithin(above: Inode): boolean {
    return this === above || (this.parent?.isWithin(above) ?? false);
  }

  /** Every entry below, those inside a folder before it. */
  *below(): Generator<Inode> {
    for (const child of this.children.values()) {
      yield* child.below();
      yield child;
    }
  }

  /** The plain files below, by their path from here. */
  files(): ReadonlyMap<string, Inode> {
    const found = new Map<string, Inode>();
    for (const entry of this.below()) if (entry.kind === 'file') found.set(entry.pathFrom(this), entry);
    return found;
  }

  pathFrom(above: Inode): string {
    return this.parent === undefined || this.parent === above
      ? this.name
      : `${this.parent.pathFrom(above)}/${this.name}`;
  }
}
