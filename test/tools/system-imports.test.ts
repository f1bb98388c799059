import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { systemImports } from '../../tools/lib/system-imports.mjs';

const modules = (text: string): readonly string[] =>
  systemImports(parseSync, 'src/pods/worker.ts', text).map(({ module }) => module);

for (const [text, found] of [
  ["import { readFile } from 'node:fs/promises';", ['fs/promises']],
  ["import { type Stats, statSync } from 'fs';", ['fs']],
  ["import * as files from 'node:fs';", ['fs']],
  ["import {\n  spawn,\n  type ChildProcess,\n} from 'node:child_process';", ['child_process']],
  ["export { watch } from 'node:fs';", ['fs']],
  ["export * from 'node:fs';", ['fs']],
  ["const { readFile } = await import('node:fs/promises');", ['fs/promises']],
  ["const files = require('fs');", ['fs']],
  ["const files = process.getBuiltinModule('node:fs');", ['fs']],
  ["import 'node:fs';", ['fs']],
] as const) {
  test(`refused: ${text}`, () => assert.deepEqual(modules(text), found));
}

for (const text of [
  "import type { Stats } from 'node:fs';",
  "export type { Stats } from 'node:fs';",
  "import { Socket } from 'node:net';",
  "// import { readFile } from 'node:fs';",
  'const said = "import \'node:fs\'";',
  "import { files } from './fs.ts';",
  'const stats: import("node:fs").Stats = given;',
]) {
  test(`passes: ${text}`, () => assert.deepEqual(modules(text), []));
}
