// npm run control-plane              a Kubernetes control plane on loopback to play with, until Ctrl-C
// npm run control-plane -- --join    with this machine as a node, looked after by tubelet
// npm run control-plane -- --prepare only compiles what it consists of, so that the next start is quick
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { controlPlanePrograms } from './lib/control-plane-programs.mjs';
import { installDebianPackages } from './lib/debian.mjs';
import { ensurePackages } from './lib/packages.mjs';
import { bundle } from './lib/run-bundled.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);
const words = process.argv.slice(2);

if (process.platform !== 'linux' || process.getuid?.() !== 0) give('needs Linux and root');
ensurePackages(root);
const missing = installDebianPackages();
if (missing !== undefined) give(missing);
const programs = controlPlanePrograms(root);
if ('why' in programs) give(programs.why);
if (words.includes('--prepare')) process.exit(0);
if (words.length > 0 && spawnSync(process.execPath, ['tools/build.mjs'], { stdio: [0, 'ignore', 2] }).status !== 0) {
  give('npm run build failed');
}

const outfile = `${root}/.build/control-plane-${process.pid}.mjs`;
process.on('exit', () => rmSync(outfile, { force: true }));
await bundle('test/real/control-plane/cli.ts', outfile);
process.env.TUBELET_CONTROL_PLANE_PROGRAMS = programs.folder;
process.setSourceMapsEnabled(true);
// In this very process: what the control plane consists of dies with the process that started it.
await import(pathToFileURL(outfile).href);

function give(why) {
  console.error(`no control plane here: ${why}`);
  process.exit(1);
}
