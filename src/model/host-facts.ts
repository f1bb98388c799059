/** The identity of the machine, as the node's status reports it. */
export interface HostIdentity {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
}

/** The interfaces that are up, and those that lead out. */
export interface HostNetwork {
  readonly interfaces: readonly HostInterface[];
  /** In the order of the kernel's tables. */
  readonly defaultRoutes: readonly DefaultRoute[];
}

export interface HostInterface {
  readonly name: string;
  readonly loopback: boolean;
  readonly addresses: readonly string[];
}

export interface DefaultRoute {
  readonly interface: string;
  readonly family: 4 | 6;
}

/** Kernel features that pods may ask for; constant while the machine is up. */
export interface KernelFacts {
  /** As in the label `kubernetes.io/arch`. */
  readonly architecture: string;
  readonly kernelVersion: string;
  readonly hasAppArmor: boolean;
}
