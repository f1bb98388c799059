export { OomScore } from './oom-score.ts';
export { prepareHost, type PrepareSettings, type PreparedHost } from './prepare-host.ts';
export type { MountPropagation, SetupMachine } from './ports.ts';
export { IptablesChains } from './iptables-chains.ts';
export { SystemCgroup } from './system-cgroup.ts';
export { TunableSetup } from './kernel-tunables.ts';
export type { TunablesMode } from './plan-tunables.ts';
