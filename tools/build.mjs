// npm run build: one bundle per entry with shared chunks, so that `--version` loads a few kilobytes and the agent loads
// what it needs. Native modules stay outside; source maps are there for debuggers.
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { logPositions } from './lib/log-positions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const { build } = await import('esbuild');
const { version, dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));

// Built beside the old program and swapped in when it is whole: a build that fails, or another one at the same time,
// leaves a program that runs.
const fresh = `.build/dist-${process.pid}`;
const stale = `${root}/.build/dist-old-${process.pid}`;
mkdirSync(`${root}/${fresh}`, { recursive: true });
process.on('exit', () => {
  for (const path of [`${root}/${fresh}`, stale]) rmSync(path, { recursive: true, force: true });
});
const result = await build({
  absWorkingDir: root,
  entryPoints: { tubelet: 'src/main/tubelet.ts' },
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // What is installed beside the program; all else is in it.
  external: Object.keys(dependencies),
  define: { TUBELET_VERSION: JSON.stringify(version) },
  sourcemap: 'linked',
  sourcesContent: false,
  plugins: [logPositions()],
  outExtension: { '.js': '.mjs' },
  // Some bundled packages are CommonJS and ask for `require`.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  metafile: true,
  logLevel: 'error',
});
const imported = Object.values(result.metafile.outputs).flatMap(({ imports }) => imports);
const outside = new Set(imported.filter(({ external }) => external).map(({ path }) => path));
const unused = Object.keys(dependencies).filter((name) => !outside.has(name));
if (unused.length > 0) throw new Error(`package.json: the program does not import ${unused.join(', ')}`);
const strange = [...outside].filter((path) => !isBuiltin(path) && !Object.hasOwn(dependencies, path));
if (strange.length > 0) throw new Error(`the program imports ${strange.join(', ')}, which is no dependency`);
try {
  renameSync(`${root}/dist`, stale);
} catch (error) {
  if (error.code !== 'ENOENT') throw error;
}
renameSync(`${root}/${fresh}`, `${root}/dist`);
const bytes = Object.entries(result.metafile.outputs).filter(([path]) => path.endsWith('.mjs'));
console.log(
  bytes.map(([path, { bytes: size }]) => `${path.replace(fresh, 'dist')} ${Math.ceil(size / 1024)} kB`).join('\n'),
);
