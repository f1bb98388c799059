// Runs a TypeScript program of the tests: bundled to a file of its own, so that two runs do not meet, and removed again.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { logPositions } from './log-positions.mjs';

/** One file with all of the program's own code; packages stay where they are. */
export async function bundle(entryPoint, outfile) {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    sourcemap: 'inline',
    plugins: [logPositions()],
    logLevel: 'error',
  });
}

/** Answers the program's exit code. */
export async function runBundled(name, entryPoint, args) {
  const outfile = `.build/${name}-${process.pid}.mjs`;
  await bundle(entryPoint, outfile);
  const run = spawnSync(process.execPath, ['--enable-source-maps', outfile, ...args], { stdio: 'inherit' });
  rmSync(outfile, { force: true });
  return run.status ?? 1;
}
