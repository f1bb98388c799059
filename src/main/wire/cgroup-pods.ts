import { isTerminalPhase } from '../../model/reasons.ts';
import type { CgroupPods } from '../../resources/create-cgroups.ts';
import type { PodMachine } from './pod-machine.ts';

/** The pods as cgroups need them; there are some when the components start. */
export function cgroupPods(machine: () => PodMachine): CgroupPods {
  return {
    active: () => {
      const { desired, workers, statuses } = machine();
      return desired.all().filter(({ uid }) => !workers.isFinished(uid) && !isTerminalPhase(statuses.get(uid)?.phase));
    },
    complete: () => machine().hasAllSpoken(),
    isUnknown: (uid) => machine().isUnknown(uid),
  };
}
