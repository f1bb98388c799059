/** What all stages have in common. */

/** Small, so that a story fills them. */
export const logLimits = { maxSize: 20_000, maxFiles: 3, maxWorkers: 1, monitorIntervalMs: 10_000 };

/** The gate that lets containers have restart policies and rules of their own; it is off by default. */
export const storyGate = 'ContainerRestartRules';

export const clusterDomain = 'cluster.test';

/** Nobody listens at this port of the machine. */
export const unreachableImage = {
  name: 'localhost:1/none:1',
  failure:
    'failed to resolve reference "localhost:1/none:1": failed to do request: ' +
    'Head "https://localhost:1/v2/none/manifests/1": dial tcp 127.0.0.1:1: connect: connection refused',
};

/** Nobody has it. */
export const absentImage = 'localhost/tubelet/none:1';
