import type { PodContainerManager } from './ports.ts';

/** Without cgroupsPerQOS pods have no cgroups: none is made, missed or removed. */
export const noPodCgroups: PodContainerManager = {
  exist: () => true,
  ensure: async () => {},
  remove: async () => {},
};
