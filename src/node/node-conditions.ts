import type { NodePressure } from './status/setter.ts';

/** What keeps more pods from the node although it is ready. */
export interface NodeConditions {
  pressure(): NodePressure;
  shuttingDown(): boolean;
}

/** Neither pressure nor a shutdown of the machine is monitored. */
export const undisturbed: NodeConditions = {
  pressure: () => ({ memory: false, disk: false, pid: false }),
  shuttingDown: () => false,
};

const conditionTypes = { memory: 'MemoryPressure', disk: 'DiskPressure', pid: 'PIDPressure' } as const;

/** The condition types that are true under that pressure. */
export function pressureConditions(pressure: NodePressure): readonly string[] {
  return (['memory', 'disk', 'pid'] as const).filter((kind) => pressure[kind]).map((kind) => conditionTypes[kind]);
}
