// The Debian packages that a private container runtime is made of, and their installation when tests need them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const needed = [
  { package: 'containerd', file: '/usr/bin/containerd' },
  { package: 'runc', file: '/usr/sbin/runc' },
  { package: 'containernetworking-plugins', file: '/usr/lib/cni/bridge' },
  { package: 'iptables', file: '/usr/sbin/iptables' },
  { package: 'iproute2', file: '/usr/bin/ip' },
  { package: 'busybox-static', file: '/usr/bin/busybox' },
  { package: 'catatonit', file: '/usr/bin/catatonit' },
];

/** Packages whose file is not on this machine. */
export function missingForRuntime() {
  return needed.filter((entry) => !existsSync(entry.file)).map((entry) => entry.package);
}

/** Installs what is missing; answers why it could not, or nothing. */
export function installDebianPackages() {
  const missing = missingForRuntime();
  if (!existsSync('/usr/bin/apt-get')) return `needs ${missing.join(', ')}, and there is no apt-get to install them`;
  console.log(`installing Debian packages for the containerd tier: ${missing.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...missing],
  ]) {
    const result = spawnSync('apt-get', args, { env, encoding: 'utf8' });
    if (result.status !== 0)
      return `apt-get ${args[0]} failed: ${(result.stderr || result.stdout).trim().split('\n').at(-1)}`;
  }
  const still = missingForRuntime();
  return still.length === 0 ? undefined : `still missing after installation: ${still.join(', ')}`;
}
