// Runs inside the machine: takes commands from a folder that it shares with the host, one file each, and writes beside it
// what they say while they say it, and how they ended. hostfs tells nobody of changes, so both sides look again and again.
import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';

const folder = '/exchange/jobs';
const lookMs = 50;
/** How long a command that was asked to end may take. */
const graceMs = 2_000;
/** What is written is on the host's side at once. */
const written = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_DSYNC;

const file = (number, kind) => `${folder}/${number}.${kind}`;

/** Folders of the host, at the same places as there. */
function mountShares() {
  for (const { name, at } of JSON.parse(readFileSync('/exchange/shares.json', 'utf8'))) {
    mkdirSync(at, { recursive: true });
    execFileSync('mount', ['-t', 'hostfs', 'none', at, '-o', `ro,${name}`]);
  }
}

/** A file of a name is there whole or not at all. */
function put(path, value) {
  writeFileSync(`${path}.new`, JSON.stringify(value), { flush: true });
  renameSync(`${path}.new`, path);
}

function run(number) {
  writeFileSync(file(number, 'begun'), '');
  const { words, env, cwd, timeoutMs } = JSON.parse(readFileSync(file(number, 'job'), 'utf8'));
  const [out, err] = ['out', 'err'].map((kind) => openSync(file(number, kind), written, 0o644));
  const end = (value) => put(file(number, 'end'), value);
  // A process group of its own, so that its children end with it when it takes too long.
  const child = spawn(words[0], words.slice(1), {
    cwd,
    detached: true,
    stdio: ['ignore', out, err],
    env: { ...process.env, HOME: '/root', ...env },
  });
  closeSync(out);
  closeSync(err);
  let why;
  const stop = (reason) => {
    if (why !== undefined || child.pid === undefined) return;
    why = reason;
    killGroup(child.pid, 'SIGTERM');
    setTimeout(() => killGroup(child.pid, 'SIGKILL'), graceMs);
  };
  const limit = setTimeout(() => stop('timeout'), timeoutMs);
  const watch = setInterval(() => existsSync(file(number, 'stop')) && stop('stopped'), lookMs);
  const finish = (value) => {
    clearTimeout(limit);
    clearInterval(watch);
    end({ ...value, why });
  };
  child.on('error', (error) => finish({ error: error.message }));
  child.on('exit', (code, signal) => finish({ code, signal }));
}

function killGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

mountShares();
let next = 1;
// What ran when the machine went down did not end.
for (; existsSync(file(next, 'begun')); next++) {
  if (!existsSync(file(next, 'end'))) put(file(next, 'end'), { why: 'down' });
}
put('/exchange/up', { bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() });
setInterval(() => {
  for (; existsSync(file(next, 'job')); next++) run(next);
}, lookMs);
