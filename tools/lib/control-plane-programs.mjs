// The programs of a real control plane: Kubernetes' own, compiled by this machine's Go as test/real/control-plane/go.mod
// pins them, and etcd from Debian.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { extractDebianPackage } from './debian.mjs';
import { cachedPrograms } from './program-cache.mjs';

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
  const title = `Kubernetes ${version} with ${go}`;
  return cachedPrograms({
    kind: 'control-plane',
    version,
    content: [files, go, flags, buildEnv, profileReader],
    title,
    minutes: 6,
    build: (folder) => build(root, folder, { flags, title }),
  });
}

function buildFlags(version) {
  const [major, minor] = version.slice(1).split('.');
  const facts = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const set = versionPackages.flatMap((path) =>
    Object.entries(facts).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ['-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', ['-s -w', ...set].join(' ')];
}

/** Answers why it failed, or nothing. */
function build(root, folder, { flags, title }) {
  // First what is quick, and may fail.
  const noEtcd = getEtcd(folder);
  if (noEtcd !== undefined) return noEtcd;
  // Politely: it takes every core for minutes, and somebody may be working here.
  for (const [module, target] of [...moduleFolders.map((module) => [module, 'tool']), [moduleFolder, profileReader]]) {
    const result = spawnSync('nice', ['-n', '10', 'go', 'build', ...flags, '-o', `${folder}/`, target], {
      cwd: join(root, module),
      env: { ...process.env, ...buildEnv },
      stdio: ['ignore', 2, 2],
    });
    if (result.status !== 0) return `go build of ${title} (${target} in ${module}) failed, see above`;
  }
  return undefined;
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

/** Asked inside of the module, because it may choose a toolchain. */
function goVersion(root) {
  const result = spawnSync('go', ['env', 'GOVERSION'], { cwd: join(root, moduleFolder), encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}
