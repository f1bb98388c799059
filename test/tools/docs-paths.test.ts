import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { missingPaths } from '../../tools/lib/docs-paths.mjs';

const folders = ['bench', 'bin', 'docs', 'proto', 'src', 'test', 'tools'];
const files = [
  ...readdirSync('.', { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name),
  ...folders.flatMap((folder) => filesBelow(folder)),
];
const documents = files.filter((path) => /^(?:\w+\.md|docs\/.+\.md|.+\/README\.md)$/.test(path));

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const missing = (document: string, text: string): readonly string[] =>
  missingPaths(document, text, ['src/pods/pleg/pleg.ts', 'src/base/due.ts', 'docs/adr/0001-a.md', 'bench/b.ts']).map(
    ({ line, path }) => `${line} ${path}`,
  );

test('documents are found', () => {
  for (const path of ['README.md', 'docs/architecture.md', 'docs/adr/0001-toolchain.md', 'src/base/README.md']) {
    assert.ok(documents.includes(path), path);
  }
});

for (const document of documents) {
  test(`every path exists that ${document} names`, () => {
    const absent = missingPaths(document, readFileSync(document, 'utf8'), files);
    assert.deepEqual(
      absent.map(({ line, path }) => `${document}:${line}: ${path}`),
      [],
    );
  });
}

test('a path that does not exist is found, with its line', () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['docs/a.md', 'see\n`src/pods/dispatch.ts`', ['2 src/pods/dispatch.ts']],
    ['docs/a.md', '[gone](adr/0002-b.md), `src/main/wire/`', ['1 adr/0002-b.md', '1 src/main/wire/']],
    ['src/pods/pleg/README.md', '`{pleg,gone}.ts` and `base/gone.ts`', ['1 gone.ts', '1 base/gone.ts']],
    ['src/pods/pleg/README.md', '`compute-*.ts`', ['1 compute-*.ts']],
  ];
  for (const [document, text, expected] of rows) assert.deepEqual(missing(document, text), expected, text);
});

test('a path that exists passes, and so does what is no path', () => {
  const rows: readonly (readonly [string, string])[] = [
    [
      'docs/a.md',
      '`src/pods/pleg`, `src/pods/pleg/`, `src/**/pl*.ts`, `base/due.ts`, [b](adr/0001-a.md#why), [c](../bench)',
    ],
    ['src/pods/README.md', '`pleg.ts`, `pleg/pleg.ts`, `{pleg,pleg/pleg}.ts`, [b](https://example.org/gone.md)'],
    ['docs/a.md', '`kubelet.go`, `/debug/node`, `pods/<uid>/userns`, `--config FILE.ts`, `src/$NAME.ts`'],
    ['docs/a.md', '```sh\nnpm test -- `src/gone.ts`\n```'],
  ];
  for (const [document, text] of rows) assert.deepEqual(missing(document, text), [], text);
});
