// npm run fuzz -- --cases N [--minutes M] [--seed S] [--first F] [--kinds K,…]   hostile connections to the agent's server
// npm run fuzz -- --seed S --case N      one of them again, with what is said and heard
//
// The last line is a summary; the exit code is 1 when something was found.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);
ensurePackages(root);
const { build } = await import('esbuild');
const outfile = `.build/fuzz-${process.pid}.mjs`;
await build({
  entryPoints: ['test/fuzz/cli.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'error',
});
const run = spawnSync(process.execPath, ['--enable-source-maps', outfile, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
rmSync(outfile, { force: true });
process.exit(run.status ?? 1);
