import { rotatedName, stampAfter, type RotatedName } from './rotated-name.ts';

export interface RotationLimits {
  /** Bytes from which on a log is rotated. */
  readonly maxSize: number;
  /** Files of one log, the current one included; two at least. */
  readonly maxFiles: number;
}

export interface RotationInput {
  /** Name of the current log: `0.log`. */
  readonly log: string;
  /** Of the current log; nothing when the file is not there. */
  readonly size: number | undefined;
  /** Names of everything in its folder. */
  readonly files: readonly string[];
  readonly limits: RotationLimits;
  readonly nowStamp: string;
}

export type RotationStep =
  | { readonly kind: 'remove'; readonly name: string; readonly why: string }
  | { readonly kind: 'rename'; readonly to: string }
  /** Where it fails, the file of that name becomes the current one again. */
  | { readonly kind: 'reopen'; readonly renamed?: string }
  | { readonly kind: 'compress'; readonly name: string };

/**
 * The steps of a rotation, in order. Old files are removed first, so that there are never more files than allowed. Then
 * the current file is renamed and the container gets a new one; only then the older ones are compressed, which takes long
 * and would let the current file grow meanwhile. The newest rotated file stays plain, for readers that have it open.
 *
 *   0.log ──rename──> 0.log.20260101-093000 ──at the next rotation──> 0.log.20260101-093000.gz ──> removed
 */
export function computeRotation({ log, size, files, limits, nowStamp }: RotationInput): readonly RotationStep[] {
  if (size === undefined) return [{ kind: 'reopen' }];
  if (size < limits.maxSize) return [];
  const rotated = files
    .flatMap((name) => rotatedName(log, name) ?? [])
    .toSorted((one, other) => (one.stamp === other.stamp ? 0 : one.stamp > other.stamp ? -1 : 1));
  const { kept, removed } = splitByRetention(rotated, Math.max(0, limits.maxFiles - 2));
  const renamed = `${log}.${nextStamp(rotated, nowStamp)}`;
  return [
    ...removed,
    { kind: 'rename', to: renamed },
    { kind: 'reopen', renamed },
    ...kept.filter(({ kind }) => kind === 'plain').map(({ name }) => ({ kind: 'compress', name }) as const),
  ];
}

/** Newest first, in the order of the input. */
function splitByRetention(
  rotated: readonly RotatedName[],
  room: number,
): { readonly kept: readonly RotatedName[]; readonly removed: readonly RotationStep[] } {
  const finished = new Set(rotated.filter(({ kind }) => kind === 'compressed').map(({ stamp }) => stamp));
  const kept: RotatedName[] = [];
  const removed: RotationStep[] = [];
  for (const file of rotated) {
    const reason =
      file.kind === 'unfinished'
        ? 'its compression was broken off'
        : file.kind === 'plain' && finished.has(file.stamp)
          ? 'it is there in compressed form'
          : kept.length >= room
            ? 'there are enough newer ones'
            : undefined;
    if (reason === undefined) kept.push(file);
    else removed.push({ kind: 'remove', name: file.name, why: reason });
  }
  return { kept, removed };
}

/**
 * The present second, or the one after the newest file's: a fast log may be rotated several times in a second, and a clock
 * that is set back must neither cause a file to be overwritten nor change the order of files.
 */
function nextStamp(rotated: readonly RotatedName[], nowStamp: string): string {
  const newest = rotated[0]?.stamp;
  if (newest === undefined || nowStamp > newest) return nowStamp;
  return stampAfter(newest, 1) ?? nowStamp;
}
