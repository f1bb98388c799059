// node tools/machine-v2.mjs --prepare            only makes its disk, so that the next start is quick
// node tools/machine-v2.mjs shell                a shell in a new machine with cgroup v2 and systemd, until it is left
// node tools/machine-v2.mjs run -- COMMAND…      a command in a new machine, in the checkout; answers its exit code
import { fileURLToPath } from 'node:url';
import { machineDisk } from './lib/machine-v2/disk.mjs';
import { Machine } from './lib/machine-v2/machine.mjs';
import { ensurePackages } from './lib/packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
/** For a person there is no other limit than patience. */
const timeoutMs = 12 * 3_600_000;
const shell = ['setsid', '--ctty', '--wait', 'sh', '-c', 'exec bash -il <>/dev/tty0 >&0 2>&0'];

const [verb, ...rest] = process.argv.slice(2);
const words = verb === 'shell' ? shell : rest.slice(rest[0] === '--' ? 1 : 0);
if (!['shell', 'run', '--prepare'].includes(verb) || (verb !== '--prepare' && words.length === 0)) {
  give('usage: machine-v2.mjs --prepare | shell | run -- COMMAND…', 2);
}

const disk = machineDisk(root);
if ('why' in disk) give(`no machine with cgroup v2 here: ${disk.why}`, 1);
if (verb !== '--prepare') process.exitCode = await play();

async function play() {
  ensurePackages(root);
  const machine = await Machine.boot({ root, console: verb === 'shell' ? 'terminal' : 'file' });
  try {
    const heard = (stream, text) => void process[stream === 'out' ? 'stdout' : 'stderr'].write(text);
    const { code } = await machine.run(words, { cwd: root, timeoutMs, heard });
    return code ?? 1;
  } finally {
    await machine.close();
  }
}

function give(why, code) {
  console.error(why);
  process.exit(code);
}
