// npm run simulate -- --seeds N [--first-seed F]   many seeded runs of the whole agent, each from its own seed
// npm run simulate -- --seed S                     one seed again, exactly, with its log of decisions
//
// The last line is a summary; the exit code is 1 when an invariant was violated.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);
ensurePackages(root);
const { build } = await import('esbuild');
const outfile = `.build/simulate-${process.pid}.mjs`;
await build({
  entryPoints: ['test/simulation/cli.ts'],
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
spawnSync('rm', ['-f', outfile]);
process.exit(run.status ?? 1);
