// Bundles each test file into one module with source maps: Node 20 cannot read TypeScript, and one file loads faster
// than sixty. Tests run with the repository as working directory and find their data from there.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { logPositions } from './log-positions.mjs';

/** Test files below src/ and test/, sorted. */
export function findTestFiles(root) {
  const found = [];
  const walk = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      else if (entry.name.endsWith('.test.ts')) found.push(path);
    }
  };
  for (const folder of ['src', 'test']) walk(folder);
  return found.sort((a, b) => (a < b ? -1 : 1));
}

/** Compiles the files; answers source path → compiled path. */
export async function compileTests(root, files) {
  const { build } = await import('esbuild');
  const outdir = join(root, '.build', `test-${process.pid}`);
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  process.on('exit', () => rmSync(outdir, { recursive: true, force: true }));
  await build({
    absWorkingDir: root,
    entryPoints: files.map((path) => ({ in: path, out: path.replace(/\.ts$/, '') })),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'linked',
    plugins: [logPositions()],
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
  });
  return new Map(files.map((path) => [path, join(outdir, path.replace(/\.ts$/, '.mjs'))]));
}
