/** Leaves of a value by their paths, as `a.b[0].c`. Empty lists and objects are leaves. */
export function flatten(value: unknown, path = ''): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const walk = (part: unknown, at: string): void => {
    const isInner = typeof part === 'object' && part !== null && Object.keys(part).length > 0;
    if (!isInner) leaves.set(at, JSON.stringify(part) ?? 'undefined');
    else if (Array.isArray(part)) part.forEach((item, index) => walk(item, `${at}[${index}]`));
    else for (const [key, item] of Object.entries(part)) walk(item, at === '' ? key : `${at}.${key}`);
  };
  walk(value, path);
  return leaves;
}

interface Difference {
  readonly at: string;
  readonly first: string | undefined;
  readonly second: string | undefined;
}

/** What two sets of leaves do not have in common. */
export function differencesOf(
  first: ReadonlyMap<string, string>,
  second: ReadonlyMap<string, string>,
): readonly Difference[] {
  return [...new Set([...first.keys(), ...second.keys()])]
    .sort()
    .map((at) => ({ at, first: first.get(at), second: second.get(at) }))
    .filter((pair) => pair.first !== pair.second);
}

export const describeDifference = ({ at, first, second }: Difference): string =>
  `${at}: ${first ?? 'nothing'} -> ${second ?? 'nothing'}`;
