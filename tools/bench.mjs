// npm run bench NAME: bundles bench/NAME.ts and runs it with the repository as working directory.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { controlPlanePrograms } from './lib/control-plane-programs.mjs';
import { installDebianPackages } from './lib/debian.mjs';
import { logPositions } from './lib/log-positions.mjs';
import { ensurePackages } from './lib/packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);
/** Those that measure against the programs of a real cluster. */
const withControlPlane = new Set(['pods', 'scrape', 'volumes']);
const [name = '', ...rest] = process.argv.slice(2);
if (!existsSync(`bench/${name}.ts`)) {
  const known = readdirSync('bench').filter((file) => file.endsWith('.ts') && !file.startsWith('support'));
  console.error(`usage: npm run bench NAME, one of: ${known.map((file) => file.replace(/\.ts$/, '')).join(', ')}`);
  process.exit(2);
}
ensurePackages(root);
if (withControlPlane.has(name)) {
  const missing = installDebianPackages();
  const programs = missing === undefined ? controlPlanePrograms(root) : { why: missing };
  if ('why' in programs) {
    console.error(`no control plane here: ${programs.why}`);
    process.exit(1);
  }
  process.env.TUBELET_CONTROL_PLANE_PROGRAMS = programs.folder;
}
const { build } = await import('esbuild');
const outdir = `.build/bench-${name}`;
const outfile = `${outdir}/${name}.mjs`;
await build({
  entryPoints: [`bench/${name}.ts`],
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // As the program is built: what runs in a thread of its own has a file of its own.
  splitting: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  plugins: [logPositions()],
  logLevel: 'error',
});
if (spawnSync(process.execPath, ['tools/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
  process.exit(1);
process.exit(spawnSync(process.execPath, ['--expose-gc', outfile, ...rest], { stdio: 'inherit' }).status ?? 1);
