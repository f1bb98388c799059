// npm run test:engines: what runs on every version of Node.js that tubelet supports: unit tests, scenarios, and a start of
// the program that must print nothing but lines of the log.
//
//   node tools/test-engines.mjs            all versions
//   node tools/test-engines.mjs 24         some versions
//   node tools/test-engines.mjs 24 --real  the stories on a real container runtime as well
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeVersions } from './lib/node-versions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const words = process.argv.slice(2);
const real = words.includes('--real');
const asked = words.filter((word) => word !== '--real');

const runs = [
  { args: ['--tier=unit,scenarios'], required: 'unit,scenarios' },
  { args: ['test/limits/silent-start'], required: 'limits' },
  ...(real ? [{ args: ['--tier=containerd', 'test/real/stories-'], required: 'containerd' }] : []),
];
const failed = [];
for (const version of asked.length > 0 ? asked : Object.keys(nodeVersions)) {
  for (const { args, required } of runs) {
    const env = { ...process.env, TUBELET_REQUIRE: required };
    const words = ['tools/test.mjs', `--node=${version}`, ...args];
    const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: 'inherit', env });
    if (status !== 0) failed.push(`Node.js ${version} ${args.join(' ')}`);
  }
}
for (const one of failed) console.error(`failed: ${one}`);
process.exitCode = failed.length > 0 ? 1 : 0;
