import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { perPodState } from '../../tools/lib/per-pod-state.mjs';

/** Maps and sets of pods that no registration counts, and why none has to. */
const uncounted: Readonly<Record<string, string>> = {
  'Admission #decided': 'PodGate forgets and counts it with its own',
  'Admission #victims': 'PodGate forgets and counts it with its own',
  'Admission #formerLives': 'PodGate forgets and counts it with its own',
  'ContainerGc #stuck': 'made anew in every round, of the pods that exist',
  'EventTriage #changed': 'emptied in the same turn of the event loop, or the next',
};

interface Kept {
  readonly className: string;
  readonly field: string;
  readonly counted: boolean;
}

const kept = (...texts: readonly string[]): readonly string[] =>
  perPodState(texts.map((text, index) => ({ path: `src/${index}.ts`, text }))).map(
    ({ className, field, counted }: Kept) => `${className} ${field} ${counted}`,
  );
const store = (size: string): string =>
  `export class Store { readonly #pods = new Map<PodUid, Pod>(); size() { return ${size}; } forget() { this.#pods.clear(); } }`;
const counting = store('this.#pods.size');
const root = (call: string): string => `const store = new Store(); podRemoval.${call};`;

describe('what counts as registered', () => {
  const rows: readonly (readonly [name: string, texts: readonly string[], found: readonly string[]])[] = [
    ['a store', [counting, root("register('pods', store)")], ['Store #pods true']],
    ['one that ends by itself', [counting, root("registerSelfEnding('pods', store)")], ['Store #pods true']],
    [
      'by functions',
      [counting, root("register('pods', { forget: (uid) => store.forget(uid), size: () => store.size() })")],
      ['Store #pods true'],
    ],
    [
      'under another word than size',
      [
        'class Store { #ends: ReadonlySet<PodUid> = new Set(); underWay() { return this.#count(); } #count() { return this.#ends.size; } }',
        root("register('ends', { forget: () => {}, size: () => store.underWay() })"),
      ],
      ['Store #ends true'],
    ],
    [
      'what it makes and counts',
      [
        counting,
        "class Owner { #store = new Store(); size() { return this.#store.size(); } }\nconst owner = new Owner(); podRemoval.register('owner', owner);",
      ],
      ['Store #pods true'],
    ],
    ['nothing', [counting], ['Store #pods false']],
    ['another', [counting, "const other = new Other(); podRemoval.register('other', other);"], ['Store #pods false']],
    ['a size that looks elsewhere', [store('0'), root("register('pods', store)")], ['Store #pods false']],
    [
      'with a registry of something else',
      [counting, "const store = new Store(); metrics.register('pods', store);"],
      ['Store #pods false'],
    ],
  ];
  for (const [name, texts, found] of rows) {
    test(name, () => assert.deepEqual(kept(...texts), found));
  }
});

test('all that the agent keeps by pod ends with the pod, or the table says why it need not', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/^(?:testing|gen)\//.test(path))
    .map((path) => ({ path: `src/${path}`, text: readFileSync(`src/${path}`, 'utf8') }));
  const state: readonly Kept[] = perPodState(files);
  assert.ok(state.length > 40, String(state.length));
  const missing = state.filter(({ counted }) => !counted).map(({ className, field }) => `${className} ${field}`);
  assert.deepEqual(missing.toSorted(), Object.keys(uncounted).toSorted());
});
