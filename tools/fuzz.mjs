// npm run fuzz -- --cases N [--minutes M] [--seed S] [--first F] [--kinds K,…]   hostile connections to the agent's server
// npm run fuzz -- --seed S --case N      one of them again, with what is said and heard
// npm run fuzz -- --manifests [--cases N] [--minutes M] [--seed S] [--case N]   hostile manifests and objects to the pod machine
//
// The last line is a summary; the exit code is 1 when something was found.
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/packages.mjs';
import { runBundled } from './lib/run-bundled.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);
ensurePackages(root);
const program = process.argv.includes('--manifests') ? 'test/fuzz/manifests/cli.ts' : 'test/fuzz/cli.ts';
process.exitCode = await runBundled('fuzz', program, process.argv.slice(2));
