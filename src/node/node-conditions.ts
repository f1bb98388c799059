import type { NodePressure } from './status/setter.ts';

/** What stands against more pods on the node although it is ready. */
export interface NodeConditions {
  pressure(): NodePressure;
  shuttingDown(): boolean;
}

/** No part of the agent watches for pressure or a shutdown of the machine. */
export const undisturbed: NodeConditions = {
  pressure: () => ({ memory: false, disk: false, pid: false }),
  shuttingDown: () => false,
};

const conditionTypes = { memory: 'MemoryPressure', disk: 'DiskPressure', pid: 'PIDPressure' } as const;

/** The conditions that are true under that pressure, by their types. */
export function pressureConditions(pressure: NodePressure): readonly string[] {
  return (['memory', 'disk', 'pid'] as const).filter((kind) => pressure[kind]).map((kind) => conditionTypes[kind]);
}
