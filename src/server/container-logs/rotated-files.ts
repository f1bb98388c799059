/** Which file of a log a follower is reading. */
export type HeldFile =
  /** It was the current one when the newest of the rotated files had this stamp, the empty text for none. */
  | { readonly kind: 'current'; readonly identity: string; readonly newestBefore: string }
  /** It had been put aside already. */
  | { readonly kind: 'rotated'; readonly stamp: string };

/** A file that was once the current log: `0.log.20260101-093000`, with `.gz` behind it when compressed. */
export interface RotatedFile {
  readonly name: string;
  /** Later files have greater ones. */
  readonly stamp: string;
  readonly compressed: boolean;
}

const pattern = /^\.(?<stamp>\d{8}-\d{6})(?<ending>\.gz|)$/;

/** The rotated files of a log among the names of its folder, oldest first, each once. */
export function rotatedFiles(log: string, names: readonly string[]): readonly RotatedFile[] {
  const found = new Map<string, RotatedFile>();
  for (const name of names) {
    if (!name.startsWith(log)) continue;
    const { stamp, ending } = pattern.exec(name.slice(log.length))?.groups ?? {};
    if (stamp === undefined) continue;
    // Just after it was compressed a file is there in both forms.
    if (ending === '' || !found.has(stamp)) found.set(stamp, { name, stamp, compressed: ending !== '' });
  }
  return [...found.values()].sort((one, other) => (one.stamp < other.stamp ? -1 : 1));
}

export const newestStamp = (files: readonly RotatedFile[]): string => files.at(-1)?.stamp ?? '';

/** The rotated files that were written after the one that is held, oldest first. */
export function filesAfter(
  held: HeldFile,
  files: readonly RotatedFile[],
  identityOf: (name: string) => string | undefined,
): readonly RotatedFile[] {
  if (held.kind === 'rotated') return files.filter(({ stamp }) => stamp > held.stamp);
  const later = files.filter(({ stamp }) => stamp > held.newestBefore);
  const own = later.findIndex(({ name, compressed }) => !compressed && identityOf(name) === held.identity);
  if (own >= 0) return later.slice(own + 1);
  // The held file was the next to be put aside: when it has no plain name any more, the first compressed one is it.
  return later[0]?.compressed === true ? later.slice(1) : later;
}
