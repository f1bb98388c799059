import type { Clock } from '../../base/clock.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Settings } from '../../config/index.ts';
import { cgroupHierarchies, HostCgroups, HostProcessTree, type Machine } from '../../host/index.ts';
import { AgentCgroup } from '../../resources/cgroups/index.ts';

export interface AgentCgroupWiring {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly machine: Machine;
}

/** The cgroup of this process, whatever driver makes those of pods. */
export function wireAgentCgroup({ settings, clock, random, log, heartbeats, machine }: AgentCgroupWiring): AgentCgroup {
  const hierarchies = cgroupHierarchies();
  const cgroups = HostCgroups.open({ version: machine.cgroupVersion, clock, hierarchies });
  const tree = new HostProcessTree({ cgroups, clock, hierarchies });
  return new AgentCgroup({ clock, random, log, heartbeats, tree, configured: settings.config.kubeletCgroups });
}
