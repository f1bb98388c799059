export { computeObjects, type ComputedObjects, type KnownObjects, type ObjectProblem } from './compute-objects.ts';
export type { ReferringPod } from './ports.ts';
export { references, referrers } from './references.ts';
export { StandaloneObjects, type StandaloneObjectsDeps } from './standalone-objects.ts';
