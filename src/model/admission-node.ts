/** The node as admission sees it: plain facts, read anew for every decision. */
export interface AdmissionNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
  /** What pods may ask for: cpu, memory, pods, ephemeral-storage, huge pages, extended resources. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly os: 'linux';
  /** As in the label `kubernetes.io/arch`. */
  readonly arch: string;
  readonly kernelVersion: string;
  /** Conditions that are true now: MemoryPressure, DiskPressure, PIDPressure. */
  readonly pressure: readonly string[];
  readonly shuttingDown: boolean;
  readonly appArmor: AppArmorSupport;
  /** Names, or beginnings of names followed by `*`. */
  readonly allowedUnsafeSysctls: readonly string[];
  readonly supplementalGroupsPolicySupported: boolean;
  readonly featureGates: (name: string) => boolean;
}

export interface NodeTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface AppArmorSupport {
  readonly enabled: boolean;
  /** Why it is not enabled, for the pod's status. */
  readonly reason: string;
  /** The loaded profiles; where they are not known, the runtime refuses what it cannot apply. */
  readonly profiles?: ReadonlySet<string>;
}
