import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { build, type BuildFailure } from 'esbuild';
import { parseSync } from 'oxc-parser';
import { addPositions, logPositions } from '../../tools/lib/log-positions.mjs';

const placed = (text: string): string => {
  const { contents, errors } = addPositions(parseSync, 'src/pods/worker.ts', text);
  assert.deepEqual(errors, []);
  return contents;
};
const problems = (text: string): string[] =>
  addPositions(parseSync, 'src/pods/worker.ts', text).errors.map((error) => error.text);

describe('a call of a logger gets its position', () => {
  const rows: readonly (readonly [string, string])[] = [
    ["log.info('a');", `log.info('a', void 0, "worker.ts:1");`],
    ["log.info('a', { b: 1 });", `log.info('a', { b: 1 }, "worker.ts:1");`],
    ["deps.log.debug(2, 'a');", `deps.log.debug(2, 'a', void 0, "worker.ts:1");`],
    ["this.#log.error(error, 'a');", `this.#log.error(error, 'a', void 0, "worker.ts:1");`],
    ["parts?.log?.warn('a', x);", `parts?.log?.warn('a', x, "worker.ts:1");`],
    ["(parts.agentLog as Log)!.warn(('a'));", `(parts.agentLog as Log)!.warn(('a'), void 0, "worker.ts:1");`],
    // The line is that of the method, and lines stay where they are.
    [
      "\nlog\n  .with({ pod })\n  .info(\n    'a', // log.info('b')\n  );",
      `\nlog\n  .with({ pod })\n  .info(\n    'a', void 0, "worker.ts:4", // log.info('b')\n  );`,
    ],
    // A call within the arguments of another, letters of more than one unit, words in strings and in patterns.
    [
      "const é = '𝄞'; log.info('log.info()', { a: () => log.warn(`)${/[)]/}`) });",
      `const é = '𝄞'; log.info('log.info()', { a: () => log.warn(\`)\${/[)]/}\`, void 0, "worker.ts:1") }, "worker.ts:1");`,
    ],
  ];
  for (const [before, after] of rows) test(JSON.stringify(before), () => assert.equal(placed(before), after));
});

test('what is no call of a logger stays as it is', () => {
  for (const text of [
    "console.error('a');",
    'const { path } = log; log.path;',
    'registration.info(limit);',
    'record.error; x.info = 1; this.#warn(1);',
    "const text = 'log.info()'; // lines.info('a')",
    'warn(1); const { info } = response;',
  ])
    assert.equal(placed(text), text);
});

test('what may be one and cannot be placed is refused', () => {
  const value = 'a method of a logger cannot be a value: call it';
  const other =
    'this may be a logger: let its name end in "log", or add it to otherNames in tools/lib/log-positions.mjs';
  const rows: readonly (readonly [string, string])[] = [
    ["lines.info('a');", other],
    ["start().warn('a');", other],
    ["this.info('a');", other],
    ['const say = log.info;', value],
    ['log.info.call(log);', value],
    ['const { info } = deps.log;', value],
    ['const { ...rest } = log; rest.info;', value],
    ["const f = ({ log: { warn } }) => warn('a');", value],
    ["const f = ({ warn }: Log) => warn('a');", value],
    ["log['info']('a');", 'name the method of the logger'],
    ['log.info(...words);', 'arguments of a logger cannot be spread'],
    ["log.info('a', b, c);", 'info of a logger takes at most 2 arguments, and at least one'],
  ];
  for (const [text, problem] of rows) assert.deepEqual(problems(text), [problem], text);
});

test('the build fails, and says where', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'log-positions-'));
  const file = join(folder, 'worker.ts');
  const bundled = (text: string) => {
    writeFileSync(file, text);
    return build({ entryPoints: [file], write: false, bundle: true, plugins: [logPositions()], logLevel: 'silent' });
  };
  try {
    const { outputFiles } = await bundled("export const f = (log: Log): void =>\n  log.info('a');\nf(0);");
    assert.match(outputFiles[0]?.text ?? '', /log\.info\("a", void 0, "worker\.ts:2"\)/);
    await assert.rejects(bundled("\n  lines.info('a');"), ({ errors: [error] }: BuildFailure) => {
      assert.match(error?.text ?? '', /^this may be a logger/);
      const { line, column, lineText } = error?.location ?? {};
      assert.deepEqual({ line, column, lineText }, { line: 2, column: 2, lineText: "  lines.info('a');" });
      return true;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
