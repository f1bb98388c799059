// node tools/machine-v2.mjs --prepare            only makes its disk, so that the next start is quick
// node tools/machine-v2.mjs shell                a shell in a new machine with cgroup v2 and systemd, until it is left
// node tools/machine-v2.mjs run -- COMMAND…      a command in a new machine, in the checkout; answers its exit code
// node tools/machine-v2.mjs record               writes test/golden/cgroups/v2.txt anew
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { machineDisk } from './lib/machine-v2/disk.mjs';
import { Machine } from './lib/machine-v2/machine.mjs';
import { ensurePackages } from './lib/packages.mjs';
import { bundle } from './lib/run-bundled.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
/** For a person there is no other limit than patience. */
const timeoutMs = 12 * 3_600_000;
const shell = ['setsid', '--ctty', '--wait', 'sh', '-c', 'exec bash -il <>/dev/tty0 >&0 2>&0'];

const [verb, ...rest] = process.argv.slice(2);
const command = rest.slice(rest[0] === '--' ? 1 : 0);
const verbs = {
  '--prepare': async () => 0,
  shell: () => play(shell, true),
  run: () => (command.length === 0 ? usage() : play(command)),
  record,
};

const act = verbs[verb];
if (act === undefined) process.exit(usage());
const disk = machineDisk(root);
if ('why' in disk) {
  console.error(`no machine with cgroup v2 here: ${disk.why}`);
  process.exit(1);
}
process.exitCode = await act();

async function play(words, terminal = false, heard = tell) {
  ensurePackages(root);
  const machine = await Machine.boot({ root, console: terminal ? 'terminal' : 'file' });
  try {
    const { code } = await machine.run(words, { cwd: root, timeoutMs, heard });
    return code ?? 1;
  } finally {
    await machine.close();
  }
}

async function record() {
  ensurePackages(root);
  const built = spawnSync(process.execPath, ['tools/build.mjs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (built.status !== 0) return 1;
  const program = `${root}/.build/record-cgroups-${process.pid}.mjs`;
  await bundle(`${root}/test/machine-v2/record-cgroups-cli.ts`, program);
  let text = '';
  const heard = (stream, words) => (stream === 'out' ? (text += words) : tell(stream, words));
  const code = await play(['env', 'TUBELET_TEST_PATIENCE=5', 'node', program], false, heard);
  rmSync(program, { force: true });
  if (code === 0) writeFileSync(`${root}/test/golden/cgroups/v2.txt`, text);
  return code;
}

function tell(stream, text) {
  process[stream === 'out' ? 'stdout' : 'stderr'].write(text);
}

function usage() {
  console.error('usage: machine-v2.mjs --prepare | shell | run -- COMMAND… | record');
  return 2;
}
