// npm run fuzz -- --cases N [--minutes M] [--seed S] [--first F] [--kinds K,…]   hostile connections to the agent's server
// npm run fuzz -- --seed S --case N      one of them again, with what is said and heard
//
// The last line is a summary; the exit code is 1 when something was found.
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/packages.mjs';
import { runBundled } from './lib/run-bundled.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);
ensurePackages(root);
process.exitCode = await runBundled('fuzz', 'test/fuzz/cli.ts', process.argv.slice(2));
