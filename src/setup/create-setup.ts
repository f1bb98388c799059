import type { Component } from '../base/component.ts';
import type { CommonPorts } from '../model/common-ports.ts';
import { IptablesChains, OomScore, SystemCgroup, TunableSetup, type SetupMachine, type TunablesMode } from './index.ts';

export interface SetupSettings {
  readonly oomScoreAdj: number;
  /** Whether kubeletCgroups is set. */
  readonly hasOwnCgroup: boolean;
  readonly tunables: TunablesMode;
  /** Empty where processes of the machine stay where they are. */
  readonly systemCgroups: string;
  /** makeIPTablesUtilChains */
  readonly iptablesChains: boolean;
  /** The feature gate KubeletInUserNamespace. */
  readonly expectsUserNamespace: boolean;
}

interface SetupWiring {
  readonly ports: CommonPorts;
  readonly settings: SetupSettings;
  readonly machine: SetupMachine;
}

export interface Setup {
  /** Before all else: what starts later inherits the score. */
  readonly early: readonly Component[];
  /** Before anything that could start a pod. */
  readonly components: readonly Component[];
}

/** Sets up the machine for pods, and the agent as a process of it. */
export function createSetup({ ports, settings, machine }: SetupWiring): Setup {
  const { oomScoreAdj: wanted, hasOwnCgroup, tunables: mode, expectsUserNamespace } = settings;
  const { process, tunables, programs, processes } = machine;
  const { systemCgroups: configured } = settings;
  return {
    early: [new OomScore({ ...ports, process, wanted, hasOwnCgroup })],
    components: [
      new TunableSetup({ ...ports, tunables, process, mode, expectsUserNamespace }),
      ...(configured === '' ? [] : [new SystemCgroup({ ...ports, processes, configured })]),
      ...(settings.iptablesChains ? [new IptablesChains({ ...ports, programs })] : []),
    ],
  };
}
