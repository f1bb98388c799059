/** The changes of owner and mode that give a tree to a group, as plain data: another thread may carry them out. */
export interface GroupAccess {
  readonly gid: number;
  /** Bits that files get on top of those they have. */
  readonly fileBits: number;
  readonly folderBits: number;
}

export interface EntryAccess {
  readonly kind: string;
  readonly mode: number;
  readonly gid: number;
}

export interface AccessChange {
  /** Unset: the entry has the group already. */
  readonly gid?: number;
  /** To be set after the group, because a change of owner clears the setuid and setgid bits. */
  readonly mode?: number;
}

/** A change of owner clears these bits of a file. */
const setIdBits = 0o6000;

/** The change of an entry; undefined where it needs none. Links have no mode, and their targets are not ours. */
export function changeFor({ gid, fileBits, folderBits }: GroupAccess, entry: EntryAccess): AccessChange | undefined {
  const isOfOther = entry.gid !== gid;
  if (entry.kind === 'link') return isOfOther ? { gid } : undefined;
  const mode = entry.mode | (entry.kind === 'folder' ? folderBits : fileBits);
  const needsMode = mode !== entry.mode || (isOfOther && (mode & setIdBits) !== 0);
  if (!isOfOther && !needsMode) return undefined;
  return { ...(isOfOther && { gid }), ...(needsMode && { mode }) };
}
