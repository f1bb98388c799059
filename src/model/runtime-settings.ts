/** The configuration of sandboxes and containers. */
export interface RuntimeSettings {
  readonly nodeName: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  /** The parent of `kubepods`. Default: `/`. */
  readonly cgroupRoot: string;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  readonly cgroupsPerQos: boolean;
  readonly cgroupVersion: 1 | 2;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Path of the host's resolver configuration; empty means pods must not use it. */
  readonly resolvConf: string;
  readonly seccompDefault: boolean;
  /** Absolute folder of the local seccomp profiles. */
  readonly seccompProfileRoot: string;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMs: number;
  /** Whether the kernel may kill one process of a container for memory instead of all (cgroup v2 only). */
  readonly singleProcessOomKill: boolean;
  readonly memorySwapBehavior: 'NoSwap' | 'LimitedSwap';
  /** Whether the kernel can account swap per cgroup at all. */
  readonly swapControllerAvailable: boolean;
  readonly memoryThrottlingFactor: number;
  readonly selinuxEnabled: boolean;
  readonly featureGates: (name: string) => boolean;
}

/** Facts about the machine that container configurations need. */
export interface NodeFacts {
  readonly memoryCapacityBytes: bigint;
  readonly swapCapacityBytes: bigint;
  /** Resource → quantity, as in the Node object. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Page sizes the kernel offers, written `2MB`, `1GB`. */
  readonly hugePageSizes: readonly string[];
  /** Paths below /sys/devices/system/cpu that exist here and are hidden from containers. */
  readonly thermalThrottlePaths: readonly string[];
}
