// Container runtimes that people run and Debian does not have: containerd 2 with runc, and CRI-O. Their sources are modules
// of Go's proxy, named by version and digest; what they import is pinned by their own go.sum.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installDebianPackages } from './debian.mjs';
import { cachedPrograms } from './program-cache.mjs';

/** By the names that TUBELET_TEST_RUNTIME has. */
const runtimes = {
  'containerd-2.4': {
    version: 'v2.4.2',
    minutes: 3,
    modules: [
      {
        path: 'github.com/containerd/containerd/v2',
        version: 'v2.4.2',
        sum: 'h1:p6Qg+xbEz8lvwdhHDx0U469xENvp4LgGBx+E7djXkGw=',
        packages: ['./cmd/containerd', './cmd/containerd-shim-runc-v2', './cmd/ctr'],
        tags: 'no_btrfs no_devmapper no_zfs',
        set: { 'github.com/containerd/containerd/v2/version.Version': 'v2.4.2' },
        cgo: '0',
      },
    ],
  },
  runc: {
    version: 'v1.5.2',
    minutes: 1,
    modules: [
      {
        path: 'github.com/opencontainers/runc',
        version: 'v1.5.2',
        sum: 'h1:eUUowc2WJCnFYzI87C1WqRcu356Dk/wsoi90y+2wEfE=',
        packages: ['.'],
        tags: 'seccomp',
        set: {},
        cgo: '1',
      },
    ],
  },
  'cri-o-1.34': {
    version: 'v1.34.0',
    minutes: 4,
    modules: [
      {
        path: 'github.com/cri-o/cri-o',
        version: 'v1.34.0',
        sum: 'h1:ux2URwAyENy5e5hD9Z95tshdfy98eqatZk0fxx3rhuk=',
        packages: ['./cmd/crio'],
        // What is left out would need libraries; the signatures of images are not looked at here.
        tags: 'seccomp containers_image_openpgp exclude_graphdriver_btrfs exclude_graphdriver_devicemapper libdm_no_deferred_remove',
        set: {},
        cgo: '1',
        /** Pins the namespaces of sandboxes; written in C. */
        c: { program: 'pinns', folder: 'pinns/src' },
      },
    ],
  },
};

const compilers = [
  { package: 'gcc', file: '/usr/bin/gcc' },
  { package: 'libc6-dev', file: '/usr/include/stdio.h' },
  { package: 'libseccomp-dev', file: '/usr/include/seccomp.h' },
  { package: 'pkg-config', file: '/usr/bin/pkg-config' },
];

/** What CRI-O works with. */
const besideCrio = [
  { package: 'conmon', file: '/usr/bin/conmon' },
  { package: 'skopeo', file: '/usr/bin/skopeo' },
  { package: 'crun', file: '/usr/bin/crun' },
];

/**
 * The folders with the programs of all runtimes, built where they are not there yet.
 * @returns {{folders: Readonly<Record<string, string>>} | {why: string}} by runtime, or why they cannot be had
 */
export function runtimePrograms() {
  const go = goVersion();
  if (go === undefined) return { why: 'needs Go' };
  const missing = installDebianPackages([...compilers, ...besideCrio]);
  if (missing !== undefined) return { why: missing };
  const folders = {};
  for (const [name, { version, minutes, modules }] of Object.entries(runtimes)) {
    const programs = cachedPrograms({
      kind: 'runtimes',
      version: `${name}-${version}`,
      content: [go, modules, cCompiler],
      title: `${name} ${version} with ${go}`,
      minutes,
      build: (folder) => firstFailure(modules, (module) => buildModule(module, folder)),
    });
    if ('why' in programs) return programs;
    folders[name] = programs.folder;
  }
  return { folders };
}

const cCompiler = ['gcc', '-std=c99', '-O3', '-Wall', '-static', '-s'];

/** Answers why it failed, or nothing. */
function buildModule(module, folder) {
  const name = `${module.path}@${module.version}`;
  const downloaded = spawnSync('go', ['mod', 'download', '-json', name], { cwd: tmpdir(), encoding: 'utf8' });
  if (downloaded.status !== 0) return `${name} cannot be downloaded: ${downloaded.stderr || downloaded.stdout}`;
  const { Dir: source, Sum: sum } = JSON.parse(downloaded.stdout);
  if (sum !== module.sum) return `${name} has the digest ${sum}, wanted is ${module.sum}`;
  // Go does not build in its cache of modules.
  const work = mkdtempSync(join(tmpdir(), 'tubelet-build-'));
  try {
    cpSync(source, work, { recursive: true });
    makeWritable(work);
    return buildGo(module, work, folder) ?? buildC(module, work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function buildGo(module, work, folder) {
  const set = Object.entries(module.set).map(([name, value]) => `-X ${name}=${value}`);
  const flags = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-tags', module.tags];
  const link = ['-ldflags', ['-s -w', ...set].join(' ')];
  return run(['go', 'build', ...flags, ...link, '-o', `${folder}/`, ...module.packages], work, {
    CGO_ENABLED: module.cgo,
    GOWORK: 'off',
    GOFLAGS: '',
  });
}

function buildC({ c }, work, folder) {
  if (c === undefined) return undefined;
  const sources = readdirSync(join(work, c.folder)).filter((name) => name.endsWith('.c'));
  return run([...cCompiler, '-o', join(folder, c.program), ...sources], join(work, c.folder), {});
}

/** Politely: it takes every core for minutes, and somebody may be working here. */
function run(words, cwd, env) {
  const options = { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 2, 2] };
  const { status } = spawnSync('nice', ['-n', '10', ...words], options);
  return status === 0 ? undefined : `${words.slice(0, 2).join(' ')} in ${cwd} failed, see above`;
}

/** Modules lie read-only in Go's cache. */
function makeWritable(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(folder, entry.name));
  }
}

function firstFailure(items, attempt) {
  for (const item of items) {
    const why = attempt(item);
    if (why !== undefined) return why;
  }
  return undefined;
}

function goVersion() {
  const result = spawnSync('go', ['env', 'GOVERSION'], { cwd: tmpdir(), encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}
