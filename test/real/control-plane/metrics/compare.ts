import { readFileSync } from 'node:fs';
import type { Pod } from '../../../../src/gen/kubernetes/types.ts';
import { parseMetrics, shapeOf as metricsShape, shapeRows } from '../../../../src/testing/parse-metrics.ts';
import { shapeOf, type Texts } from '../golden-shape.ts';

const nameOf = (row: string): string => row.split(' ')[0] ?? '';

interface PageDifference {
  /** Rows of the record whose metric is not on the page. */
  readonly missing: readonly string[];
  /** Rows of both that differ in type or labels: the record's, then the page's. */
  readonly changed: readonly (readonly [string, string])[];
  /** Rows of the page whose metric is not in the record. */
  readonly added: readonly string[];
}

/** A page of figures against the record of the same page of a Go kubelet, by names, types and labels. */
export function compareMetrics(page: string, record: string): PageDifference {
  const ours = new Map(metricsShape(parseMetrics(page)).map((row) => [nameOf(row), row]));
  const theirs = new Map(recordRows(record).map((row) => [nameOf(row), row]));
  return {
    missing: [...theirs].flatMap(([name, row]) => (ours.has(name) ? [] : [row])),
    changed: [...theirs].flatMap(([name, row]) => {
      const own = ours.get(name) ?? row;
      return own === row ? [] : [[row, own] as const];
    }),
    added: [...ours].flatMap(([name, row]) => (theirs.has(name) ? [] : [row])),
  };
}

export function recordRows(record: string): readonly string[] {
  return shapeRows(goldenText(record));
}

export function goldenText(file: string): string {
  return readFileSync(`test/golden/node/${file}`, 'utf8');
}

/** Every key with the way to it, entries of lists taken together. */
export function keysOf(value: unknown): ReadonlySet<string> {
  const keys = new Set<string>();
  const walk = (at: unknown, path: string): void => {
    if (Array.isArray(at)) for (const entry of at) walk(entry, `${path}[]`);
    else if (typeof at === 'object' && at !== null) {
      for (const [key, below] of Object.entries(at)) {
        const here = path === '' ? key : `${path}.${key}`;
        keys.add(here);
        walk(below, here);
      }
    }
  };
  walk(value, '');
  return keys;
}

/** What one of two sets of names has and the other has not. */
export function difference(
  ours: ReadonlySet<string>,
  theirs: ReadonlySet<string>,
): { readonly missing: readonly string[]; readonly added: readonly string[] } {
  return {
    missing: [...theirs].filter((name) => !ours.has(name)).sort(),
    added: [...ours].filter((name) => !theirs.has(name)).sort(),
  };
}

/** Of a pod, what two runs have in common. */
export function podShape(pod: Pod): unknown {
  const { metadata, spec, status } = pod;
  const texts: Texts = [
    [/(?<=kube-api-access-)\w{5}/g, '{{suffix}}'],
    [new RegExp(`(?<="namespace":)"${metadata?.namespace}"`, 'g'), '"{{namespace}}"'],
    [`"nodeName":"${spec?.nodeName}"`, '"nodeName":"{{node}}"'],
    [`"${status?.hostIP}"`, '"{{hostIP}}"'],
    [`"${status?.podIP}"`, '"{{podIP}}"'],
    [/"(docker\.io\/library|localhost\/tubelet)?\/?busybox:[\d.]+"/g, '"{{image}}"'],
    [/(?<="imageID":")[^"]*/g, '{{digest}}'],
    [/(?<=containerd:\/\/)[0-9a-f]{64}/g, '{{id}}'],
  ];
  return shapeOf(pod, texts);
}
