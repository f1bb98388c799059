// The programs of a real control plane: Kubernetes' own, compiled by this machine's Go as test/real/control-plane/go.mod
// pins them, and etcd from Debian. They are kept outside the checkout, so that only the first run pays for the build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { extractDebianPackage } from './debian.mjs';

const moduleFolder = 'test/real/control-plane';
/** What does not follow Kubernetes' releases is a module of its own. */
const moduleFolders = [moduleFolder, `${moduleFolder}/metrics-server`, `${moduleFolder}/csi-hostpath`];
/** Go's own reader of profiles, which `go tool` would only compile when it is used first. */
const profileReader = 'cmd/pprof';
/** As upstream says which release a program is. */
const versionPackages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
/** Static programs need no C compiler. */
const buildEnv = { CGO_ENABLED: '0', GOWORK: 'off' };

/**
 * The folder with all programs, built when it is not there yet.
 * @param {string} root of the checkout
 * @returns {{folder: string} | {why: string}} where they are, or why they cannot be had
 */
export function controlPlanePrograms(root) {
  const go = goVersion(root);
  if (go === undefined) return { why: 'needs Go' };
  const files = moduleFolders.flatMap((module) =>
    ['go.mod', 'go.sum'].map((name) => readFileSync(join(root, module, name), 'utf8')),
  );
  const version = /^\tk8s\.io\/kubernetes (v\S+)/m.exec(files[0])?.[1];
  if (version === undefined) return { why: `${moduleFolder}/go.mod does not name k8s.io/kubernetes` };
  const flags = buildFlags(version);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tubelet', 'control-plane');
  const hash = createHash('sha256').update(JSON.stringify([files, go, flags, buildEnv, profileReader]));
  const folder = join(cache, `${version}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return { folder };
  mkdirSync(cache, { recursive: true });
  removeHalves(cache);
  const why = build(root, folder, { flags, title: `Kubernetes ${version} with ${go}` });
  return why === undefined ? { folder } : { why };
}

function buildFlags(version) {
  const [major, minor] = version.slice(1).split('.');
  const facts = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const set = versionPackages.flatMap((path) =>
    Object.entries(facts).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ['-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', ['-s -w', ...set].join(' ')];
}

/** Builds into a folder beside the real one and renames it: a build that was cut off leaves nothing that looks whole. */
function build(root, folder, { flags, title }) {
  const fresh = `${folder}.building-${process.pid}`;
  const began = performance.now();
  mkdirSync(fresh);
  try {
    // First what is quick, and may fail.
    const noEtcd = getEtcd(fresh);
    if (noEtcd !== undefined) return noEtcd;
    console.error(`building ${title}; the first time takes some six minutes on two cores`);
    // Politely: it takes every core for minutes, and somebody may be working here.
    for (const [module, target] of [
      ...moduleFolders.map((folder) => [folder, 'tool']),
      [moduleFolder, profileReader],
    ]) {
      const result = spawnSync('nice', ['-n', '10', 'go', 'build', ...flags, '-o', `${fresh}/`, target], {
        cwd: join(root, module),
        env: { ...process.env, ...buildEnv },
        stdio: ['ignore', 2, 2],
      });
      if (result.status !== 0) return `go build of ${title} (${target} in ${module}) failed, see above`;
    }
    moveInto(fresh, folder);
    console.error(`built ${title} in ${Math.round((performance.now() - began) / 1000)} s: ${folder}`);
    return undefined;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Another run may have finished the same build first; then its folder stays. */
function moveInto(fresh, folder) {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}

/** The one of this machine, or the one in Debian's package, which is taken apart and not installed: that starts a service. */
function getEtcd(folder) {
  const installed = '/usr/bin/etcd';
  const target = join(folder, 'etcd');
  if (existsSync(installed)) copyFileSync(installed, target);
  else {
    const parts = join(folder, 'etcd-server');
    const why = extractDebianPackage('etcd-server', parts);
    if (why !== undefined) return why;
    renameSync(join(parts, installed), target);
    rmSync(parts, { recursive: true, force: true });
  }
  chmodSync(target, 0o755);
  return undefined;
}

/** Removes what builds left that were killed. */
function removeHalves(cache) {
  for (const name of readdirSync(cache)) {
    const pid = /\.building-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

/** Asked inside of the module, because it may choose a toolchain. */
function goVersion(root) {
  const result = spawnSync('go', ['env', 'GOVERSION'], { cwd: join(root, moduleFolder), encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}
