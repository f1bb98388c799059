/** What makes the cgroups of pods: the agent, the runtime with systemd's help, or nothing. */
export type CgroupOwner = 'agent' | 'runtime' | 'none';

/** Pure. Systemd makes slices when the runtime asks for the first container in one. */
export function cgroupOwner(settings: {
  readonly cgroupsPerQos: boolean;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
}): CgroupOwner {
  if (!settings.cgroupsPerQos) return 'none';
  return settings.cgroupDriver === 'systemd' ? 'runtime' : 'agent';
}
