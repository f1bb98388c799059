import type { NodePressure } from './status/setter.ts';

/** What keeps more pods from the node although it is ready. */
export interface NodeConditions {
  pressure(): NodePressure;
  shuttingDown(): boolean;
}

/** Pressure is not monitored. */
export function nodeConditions(shutdown: { isSet(): boolean }): NodeConditions {
  return {
    pressure: () => ({ memory: false, disk: false, pid: false }),
    shuttingDown: () => shutdown.isSet(),
  };
}

const conditionTypes = { memory: 'MemoryPressure', disk: 'DiskPressure', pid: 'PIDPressure' } as const;

/** The condition types that are true under that pressure. */
export function pressureConditions(pressure: NodePressure): readonly string[] {
  return (['memory', 'disk', 'pid'] as const).filter((kind) => pressure[kind]).map((kind) => conditionTypes[kind]);
}
