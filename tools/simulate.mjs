// npm run simulate -- --seeds N [--first-seed F]   many seeded runs of the whole agent, each from its own seed
// npm run simulate -- --seed S                     one seed again, exactly, with its log of decisions
//
// The last line is a summary; the exit code is 1 when an invariant was violated.
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/packages.mjs';
import { runBundled } from './lib/run-bundled.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);
ensurePackages(root);
process.exitCode = await runBundled('simulate', 'test/simulation/cli.ts', process.argv.slice(2));
