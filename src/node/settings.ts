import type { Taint } from '../gen/kubernetes/types.ts';
import type { Amounts, Reservations } from '../model/node-allocatable.ts';

/** The configuration of the node; constant while the agent runs. */
export interface NodeSettings {
  /** Also its host name: the override, or that of the machine. */
  readonly nodeName: string;
  /** As configured: none, one (perhaps 0.0.0.0 or ::, which only prefer a family) or one of each family. */
  readonly nodeIps: readonly string[];
  readonly externalCloudProvider: boolean;
  readonly operatingSystem: string;
  /** As in the label `kubernetes.io/arch`. */
  readonly architecture: string;
  readonly kubeletVersion: string;
  /** The port of the agent's own server. */
  readonly port: number;
  readonly maxPods: number;
  /** 0: no limit by cores. */
  readonly podsPerCore: number;
  readonly reserved: Reservations;
  /** Hard eviction thresholds by signal; they are reserved, so pods cannot use them. Empty where that is not wanted. */
  readonly evictionHard: Amounts;
  readonly localStorageCapacityIsolation: boolean;
  /** −1: all of them. */
  readonly maxImages: number;
  /** From the command line; they take precedence over the agent's own. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly providerId: string;
  readonly controllerAttachDetach: boolean;
}
