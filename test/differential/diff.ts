/** Where two values differ, one line each: the path, what the record has, what we have. Absent and null are the same. */
export function diffValues(recorded: unknown, ours: unknown, path = ''): string[] {
  if (isObject(recorded) && isObject(ours)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(ours)])].sort();
    return keys.flatMap((key) => diffValues(recorded[key], ours[key], path === '' ? key : `${path}.${key}`));
  }
  if ((recorded ?? undefined) === (ours ?? undefined)) return [];
  return [`${path}: recorded ${shown(recorded)}, ours ${shown(ours)}`];
}

interface ListDiff {
  /** Not in ours, or not in this order. */
  readonly missing: readonly string[];
  /** In ours without being recorded. */
  readonly extra: readonly string[];
}

/** How a list of ours departs from the recorded one, by their longest common subsequence. */
export function diffLists(recorded: readonly string[], ours: readonly string[]): ListDiff {
  const lengths = commonLengths(recorded, ours);
  const missing: string[] = [];
  const extra: string[] = [];
  let left = 0;
  let right = 0;
  while (left < recorded.length || right < ours.length) {
    const [was, is] = [recorded[left], ours[right]];
    if (was !== undefined && was === is) {
      left++;
      right++;
    } else if (
      is === undefined ||
      (was !== undefined && at(lengths, left + 1, right) >= at(lengths, left, right + 1))
    ) {
      missing.push(was ?? '');
      left++;
    } else {
      extra.push(is);
      right++;
    }
  }
  return { missing, extra };
}

/** The length of the longest common subsequence from each pair of places to the ends. */
function commonLengths(left: readonly string[], right: readonly string[]): number[][] {
  const lengths = Array.from({ length: left.length + 1 }, () => Array.from({ length: right.length + 1 }, () => 0));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = lengths[i] ?? [];
      row[j] =
        left[i] === right[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

const at = (lengths: readonly (readonly number[])[], i: number, j: number): number => lengths[i]?.[j] ?? 0;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return '[…]';
  return typeof value === 'object' ? '{…}' : JSON.stringify(value);
}
