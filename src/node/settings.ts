import type { Taint } from '../gen/kubernetes/types.ts';
import type { Amounts, Reservations } from '../model/node-allocatable.ts';

/** What the configuration says about the node; nothing of it changes while the agent lives. */
export interface NodeSettings {
  /** Also its host name: the override, or that of the machine. */
  readonly nodeName: string;
  /** As given: none, one (perhaps 0.0.0.0 or ::, which only prefer a family) or one of each family. */
  readonly nodeIps: readonly string[];
  readonly externalCloudProvider: boolean;
  readonly operatingSystem: string;
  /** In the words of the label `kubernetes.io/arch`. */
  readonly architecture: string;
  readonly kubeletVersion: string;
  /** Where the agent's own server listens. */
  readonly port: number;
  readonly maxPods: number;
  /** 0: no limit by cores. */
  readonly podsPerCore: number;
  readonly reserved: Reservations;
  /** Hard eviction thresholds by signal; what they name is kept from pods too. Empty where that is not wanted. */
  readonly evictionHard: Amounts;
  readonly localStorageCapacityIsolation: boolean;
  /** −1: all of them. */
  readonly maxImages: number;
  /** From the command line, over the agent's own. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly providerId: string;
  readonly controllerAttachDetach: boolean;
}
