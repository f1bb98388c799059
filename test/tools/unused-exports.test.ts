import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { unusedExports } from '../../tools/lib/unused-exports.mjs';

/** The exports of `a` that are not needed, as `name`, `name for tests` or `name used in its file`. */
function unneeded(a: string, others: Readonly<Record<string, string>>): readonly string[] {
  const files = new Map(Object.entries({ a, ...others }));
  return unusedExports(
    parseSync,
    new Map([...files].map(([path, text]) => [`${path}.ts`, text])),
    (path) => path.endsWith('.test.ts'),
    (_path, from) => from.replace('./', ''),
  )
    .filter(({ path }) => path === 'a.ts')
    .map(
      ({ name, forTests, usedHere }) => `${name}${forTests ? ' for tests' : ''}${usedHere ? ' used in its file' : ''}`,
    );
}

for (const [how, a, others, expected] of [
  ['nobody', 'export const x = 1, y = x; export interface Z {}', {}, ['x used in its file', 'y', 'Z']],
  ['another file', 'export const x = 1; export type Y = 2;', { b: "import { x, type Y } from './a.ts';" }, []],
  ['another name', 'const x = 1; export { x as y };', { b: "import { y as z } from './a.ts';" }, []],
  ['a default', 'export default 1;', { b: "import one from './a.ts';" }, []],
  ['tests alone', 'export const x = 1;', { 'b.test': "import { x } from './a.ts';" }, ['x for tests']],
  ['a type of an import', 'export type X = 1;', { b: "let x: import('./a.ts').X;" }, []],
  ['a lazy import', 'export const x = 1, y = 2;', { b: "const { x } = await import('./a.ts');" }, ['y']],
  ['a whole module', 'export const x = 1, y = 2;', { b: "import * as a from './a.ts'; a.x;" }, ['y']],
  [
    'a file that hands it on to nobody',
    'export const x = 1, y = 2;',
    { b: "export { x, y as z } from './a.ts';", c: "import { z } from './b.ts';" },
    ['x'],
  ],
  [
    'a file that hands all on',
    'export const x = 1, y = 2;',
    { b: "export * from './a.ts';", c: "import { x } from './b.ts';" },
    ['y'],
  ],
  [
    'a file that hands all on to one that takes it whole',
    'export const x = 1, y = 2;',
    { b: "export * from './a.ts';", c: "import * as b from './b.ts'; b.x;" },
    ['y'],
  ],
  ['nobody, as it is handed on', "export { x } from './b.ts';", { b: 'export const x = 1;' }, ['x']],
] as const) {
  test(`exports for ${how}`, () => assert.deepEqual(unneeded(a, others), expected));
}
