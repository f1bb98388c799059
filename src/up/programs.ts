/** The Debian packages that an instance needs: the purpose of each, and the file that shows that it is installed. */
export interface NeededPackage {
  readonly name: string;
  readonly file: string;
  readonly why: string;
}

/** Programs by full path: PATH is not under our control, and sbin is often not in it. */
export const programs = {
  containerd: '/usr/bin/containerd',
  ctr: '/usr/bin/ctr',
  runc: '/usr/sbin/runc',
  cniPlugins: '/usr/lib/cni',
  iptables: '/usr/sbin/iptables',
  iptablesSave: '/usr/sbin/iptables-save',
  iptablesRestore: '/usr/sbin/iptables-restore',
  ip: '/usr/bin/ip',
  mount: '/usr/bin/mount',
  umount: '/usr/bin/umount',
  busybox: '/usr/bin/busybox',
  catatonit: '/usr/bin/catatonit',
  aptGet: '/usr/bin/apt-get',
} as const;

export const neededPackages: readonly NeededPackage[] = [
  { name: 'containerd', file: programs.containerd, why: 'the container runtime, run privately' },
  { name: 'runc', file: programs.runc, why: 'starts the containers' },
  { name: 'containernetworking-plugins', file: `${programs.cniPlugins}/bridge`, why: 'the pod network' },
  { name: 'iptables', file: programs.iptables, why: 'lets pods reach out and be reached' },
  { name: 'iproute2', file: programs.ip, why: 'makes and removes the bridge' },
  { name: 'busybox-static', file: programs.busybox, why: 'becomes the sample image' },
  { name: 'catatonit', file: programs.catatonit, why: 'becomes the pause image' },
];
