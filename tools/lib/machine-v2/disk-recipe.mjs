// What the disk of the machine consists of: Debian packages, the files in disk/ and a few changes. Whatever is changed here
// makes another disk, because the cache goes by the content of this folder's recipe.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The release with cgroup v2, systemd 252 and containerd 1.6. */
export const suite = 'bookworm';

export const packages = [
  // The kernel that runs as a process, with its modules.
  'user-mode-linux',
  'systemd',
  'systemd-sysv',
  'dbus',
  'libpam-systemd',
  'udev',
  'kmod',
  'procps',
  'mount',
  'util-linux',
  'e2fsprogs',
  'containerd',
  'runc',
  'crun',
  'conmon',
  'containernetworking-plugins',
  'iptables',
  'iproute2',
  'libseccomp2',
  // What images are made of.
  'busybox-static',
  'catatonit',
  // What Node.js of the host asks for.
  'libstdc++6',
  'libatomic1',
  'openssl',
];

/** Of the disk, as the machine sees it. Its file has holes and takes a few hundred megabytes. */
export const diskBytes = 8 * 2 ** 30;

/** A second disk that holds nothing, for tests that switch swap on. */
export const swapBytes = 2 ** 29;

export const mmdebstrapOptions = [
  '--mode=root',
  '--variant=minbase',
  '--quiet',
  '--skip=check/empty',
  `--include=${packages.join(',')}`,
  ...['APT::Install-Recommends "false"', 'Acquire::Languages "none"'].map((option) => `--aptopt=${option}`),
  ...['doc', 'man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
];

/** Services that a short life has no use for, and those that would wait for somebody at a console. */
export const maskedUnits = [
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'fstrim.timer',
  'e2scrub_reap.service',
  'ldconfig.service',
  'systemd-firstboot.service',
  'systemd-update-done.service',
  'getty@.service',
  'serial-getty@.service',
];
export const disabledUnits = ['containerd.service'];
export const enabledUnits = ['jobs.service'];

/** Files that are put onto the disk, with their texts. */
export function diskFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length))
    .sort((one, other) => (one < other ? -1 : 1))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}
