import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { storesInViews, storesOf } from '../../tools/lib/stores-in-views.mjs';

const stores = storesOf(
  [
    '| fact     | only writer                        | readers get |',
    '| -------- | ---------------------------------- | ----------- |',
    '| statuses | `pods/status` `Writer`, in `Store` | `Reader`    |',
  ].join('\n'),
);

test('writers and stores are those of the second column', () => {
  assert.deepEqual([...stores], ['Writer', 'Store']);
});

for (const [how, text, found] of [
  ['as a whole', 'export function createPods(): Store {}', ['Store']],
  [
    'in what the file declares',
    'interface Pods { a: { b?: Writer } } export function createPods(): Pods {}',
    ['Writer'],
  ],
  ['by a type', 'type Pods = readonly Store[]; export function createPods(): Pods {}', ['Store']],
  ['by inheritance', 'interface Pods extends Store {} export function createPods(): Pods {}', ['Store']],
  [
    'as an answer',
    'interface Pods { of(): Store; in: () => Writer } export function createPods(): Pods {}',
    ['Store', 'Writer'],
  ],
  ['in part', "interface Pods { a: Pick<Store, 'get'> } export function createPods(): Pods {}", []],
  ['as a port', 'interface Pods { a: Reader } export function createPods(): Pods {}', []],
  ['to be filled', 'interface Pods { read(into: Store): void } export function createPods(a: Writer): Pods {}', []],
  ['within the file', 'function createPods(): Store {} export function make(): Store {}', []],
] as const) {
  test(`a store handed out ${how}`, () => {
    const problems = storesInViews(parseSync, 'src/pods/create-pods.ts', text, stores);
    assert.deepEqual(
      problems.map(({ name }) => name),
      found,
    );
  });
}
