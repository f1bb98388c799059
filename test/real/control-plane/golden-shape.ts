import { readFileSync } from 'node:fs';

/** An object that a Go kubelet wrote: see test/golden. */
export function goldenNode<T>(file: string): T {
  return JSON.parse(readFileSync(`test/golden/node/${file}`, 'utf8')) as T;
}

/** Which texts of an object stand for what. */
export type Texts = readonly (readonly [from: string | RegExp, to: string])[];

const given = new Set(['uid', 'resourceVersion', 'managedFields']);

/** An object of which only what two runs have in common is left: texts are replaced as told, times too. */
export function shapeOf(object: unknown, texts: Texts): unknown {
  const text = texts.reduce((so, [from, to]) => so.replaceAll(from, to), JSON.stringify(object));
  return JSON.parse(text, function (this: object, key, value: unknown) {
    // Those of the object itself, which the API server gave it.
    if (given.has(key) && 'creationTimestamp' in this) return undefined;
    return typeof value === 'string' ? value.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, '{{time}}') : value;
  });
}

/** How amounts are written, whatever they are. Those of huge pages are left out: which sizes there are is the machine's. */
export function unitsOf(amounts: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, string>> {
  const known = Object.entries(amounts).filter(([name]) => !name.startsWith('hugepages-'));
  return Object.fromEntries(known.map(([name, amount]) => [name, String(amount).replace(/^\d+/, 'number')]));
}
