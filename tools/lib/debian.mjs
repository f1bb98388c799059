// The Debian packages that a private container runtime is made of, and their installation when tests need them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const needed = [
  { package: 'containerd', file: '/usr/bin/containerd' },
  { package: 'runc', file: '/usr/sbin/runc' },
  { package: 'containernetworking-plugins', file: '/usr/lib/cni/bridge' },
  { package: 'iptables', file: '/usr/sbin/iptables' },
  { package: 'iproute2', file: '/usr/bin/ip' },
  { package: 'busybox-static', file: '/usr/bin/busybox' },
  { package: 'catatonit', file: '/usr/bin/catatonit' },
  // What storage drivers call: mount and losetup.
  { package: 'mount', file: '/usr/sbin/losetup' },
  // A bus of one's own.
  { package: 'dbus-daemon', file: '/usr/bin/dbus-daemon' },
  // Certificates of a control plane.
  { package: 'openssl', file: '/usr/bin/openssl' },
];

/** Packages whose file is not on this machine. */
function missingOf(packages) {
  return packages.filter((entry) => !existsSync(entry.file)).map((entry) => entry.package);
}

/** Installs what is missing; answers why it could not, or nothing. */
export function installDebianPackages(packages = needed) {
  const missing = missingOf(packages);
  if (missing.length === 0) return undefined;
  if (!existsSync('/usr/bin/apt-get')) return `needs ${missing.join(', ')}, and there is no apt-get to install them`;
  console.log(`installing Debian packages for real tests: ${missing.join(', ')}`);
  const failed = aptGet(['update', '-qq']) ?? aptGet(['install', '-y', '-qq', '--no-install-recommends', ...missing]);
  if (failed !== undefined) return failed;
  const still = missingOf(packages);
  return still.length === 0 ? undefined : `still missing after installation: ${still.join(', ')}`;
}

/** Downloads a package and unpacks its files into a folder, without installing it; answers why it could not, or nothing. */
export function extractDebianPackage(name, folder) {
  if (!existsSync('/usr/bin/apt-get')) return `needs ${name}, and there is no apt-get to download it`;
  mkdirSync(folder);
  const download = () => aptGet(['download', '-qq', name], { cwd: folder });
  // What the lists say may be outdated, or there may be none.
  const failed = download() && (aptGet(['update', '-qq']) ?? download());
  if (failed !== undefined) return failed;
  const archive = readdirSync(folder).find((file) => file.endsWith('.deb'));
  if (archive === undefined) return `apt-get download ${name} left no package`;
  const result = spawnSync('dpkg-deb', ['--extract', join(folder, archive), folder], { encoding: 'utf8' });
  return result.status === 0 ? undefined : `${archive} cannot be unpacked: ${lastLine(result)}`;
}

function aptGet(args, options = {}) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync('apt-get', args, { env, encoding: 'utf8', ...options });
  return result.status === 0 ? undefined : `apt-get ${args[0]} failed: ${lastLine(result)}`;
}

function lastLine(result) {
  return (result.stderr || result.stdout || String(result.error)).trim().split('\n').at(-1);
}
