/** What becomes of a tree that is given to a group, as plain data: it may be carried out in another thread. */
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
  /** To be set after the group: a change of owner takes bits away from programs. */
  readonly mode?: number;
}

/** Change of owner takes these from a file. */
const bitsOfPrograms = 0o6000;

/** What is to be done to an entry; nothing where it is right. Links have no mode, and their targets are not ours. */
export function changeFor({ gid, fileBits, folderBits }: GroupAccess, entry: EntryAccess): AccessChange | undefined {
  const isOfOther = entry.gid !== gid;
  if (entry.kind === 'link') return isOfOther ? { gid } : undefined;
  const mode = entry.mode | (entry.kind === 'folder' ? folderBits : fileBits);
  const needsMode = mode !== entry.mode || (isOfOther && (mode & bitsOfPrograms) !== 0);
  if (!isOfOther && !needsMode) return undefined;
  return { ...(isOfOther && { gid }), ...(needsMode && { mode }) };
}
