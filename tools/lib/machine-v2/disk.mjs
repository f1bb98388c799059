// The kernel and the disk of the machine with cgroup v2 and systemd, made from Debian packages and kept outside the
// checkout, so that only the first run pays for them.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { installDebianPackages } from '../debian.mjs';
import { cachedPrograms } from '../program-cache.mjs';
import * as recipe from './disk-recipe.mjs';
import { mortal } from './processes.mjs';

const tools = [
  { package: 'mmdebstrap', file: '/usr/bin/mmdebstrap' },
  { package: 'e2fsprogs', file: '/usr/sbin/mkfs.ext4' },
  { package: 'util-linux', file: '/usr/bin/unshare' },
];

/**
 * The folder with the machine's `linux` (a kernel that is a program), `root.img` and `swap.img`, made when it is not there.
 * @param {string} root of the checkout
 * @returns {{folder: string} | {why: string}} where they are, or why they cannot be had
 */
export function machineDisk(root) {
  const unfit = unfitHost();
  if (unfit !== undefined) return { why: unfit };
  const folder = join(root, 'tools/lib/machine-v2');
  const files = recipe.diskFiles(join(folder, 'disk'));
  return cachedPrograms({
    kind: 'machine-v2',
    version: recipe.suite,
    content: [recipe, files, readFileSync(join(folder, 'disk.mjs'), 'utf8'), debianSources()],
    title: 'a machine with cgroup v2 and systemd',
    minutes: 2,
    build: (fresh) => installDebianPackages(tools) ?? make(fresh, files),
  });
}

function unfitHost() {
  if (process.platform !== 'linux') return `needs Linux, this is ${process.platform}`;
  if (process.arch !== 'x64') return `needs x86-64, this is ${process.arch}`;
  return process.getuid?.() === 0 ? undefined : 'needs root';
}

/** This machine's own sources where they are of the same release: a mirror nearby, and the keys that belong to it. */
function debianSources() {
  const path = '/etc/apt/sources.list.d/debian.sources';
  const ofThisRelease = existsSync(path) && readFileSync(path, 'utf8').includes(recipe.suite);
  return ofThisRelease ? [path] : [];
}

function make(folder, files) {
  const tree = join(folder, 'tree');
  const why =
    run('mmdebstrap', [...recipe.mmdebstrapOptions, recipe.suite, tree, ...debianSources()]) ??
    finishTree(tree, files, folder) ??
    packDisk(tree, join(folder, 'root.img')) ??
    packSwap(join(folder, 'swap.img'));
  rmSync(tree, { recursive: true, force: true });
  return why;
}

/** Puts the kernel beside the disk, its modules where they are looked for, and the recipe's files in place. */
function finishTree(tree, files, folder) {
  renameSync(join(tree, 'usr/bin/linux.uml'), join(folder, 'linux'));
  mkdirSync(join(tree, 'lib/modules'), { recursive: true });
  for (const version of readdirSync(join(tree, 'usr/lib/uml/modules'))) {
    renameSync(join(tree, 'usr/lib/uml/modules', version), join(tree, 'lib/modules', version));
  }
  for (const { path, text } of files) {
    mkdirSync(join(tree, dirname(path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  mkdirSync(join(tree, 'exchange'));
  // Nothing on the disk is older than its own description: no unit that brings things up to date has work.
  for (const path of ['etc/.updated', 'var/.updated', 'etc/fstab']) writeFileSync(join(tree, path), '');
  const choose = (name) => run('chroot', [tree, 'update-alternatives', '--set', name, `/usr/sbin/${name}-legacy`]);
  const systemctl = (verb, units) => run('chroot', [tree, 'systemctl', '--quiet', verb, ...units]);
  return (
    // Its kernel has the nat table for these alone.
    choose('iptables') ??
    choose('ip6tables') ??
    systemctl('mask', recipe.maskedUnits) ??
    systemctl('disable', recipe.disabledUnits) ??
    systemctl('enable', recipe.enabledUnits)
  );
}

function packDisk(tree, image) {
  makeFile(image, recipe.diskBytes);
  return run('mkfs.ext4', ['-q', '-F', '-E', 'lazy_itable_init=1,lazy_journal_init=1', '-d', tree, image]);
}

function packSwap(image) {
  makeFile(image, recipe.swapBytes);
  return run('mkswap', ['--quiet', image]);
}

/** With one hole for all of it. */
function makeFile(path, bytes) {
  const file = openSync(path, 'wx', 0o600);
  ftruncateSync(file, bytes);
  closeSync(file);
}

/** Politely: somebody may be working here. Answers why it failed, or nothing. */
function run(program, args) {
  const [first, ...words] = mortal(['nice', '-n', '10', program, ...args]);
  const result = spawnSync(first, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (result.status === 0) return undefined;
  return `${program} failed: ${(result.stderr || String(result.error ?? result.signal)).trim().split('\n').at(-1)}`;
}
