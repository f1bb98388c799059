export { computeObjects, type ComputedObjects, type KnownObjects, type ObjectProblem } from './compute-objects.ts';
export type { ReferringPod } from './ports.ts';
export { references, referrers } from './references.ts';
export { StandaloneObjects, type StandaloneObjectsDeps } from './standalone-objects.ts';
export { ApiObjects, type ApiObjectsDeps } from './api-objects.ts';
export { askedObjects } from './asked-objects.ts';
export { watchedObjects, type SingleWatch } from './watched-objects.ts';
export { defaultTokenSeconds, type Token, type TokenWish } from './tokens/compute-token.ts';
export { PodTokens, type PodTokensDeps } from './tokens/pod-tokens.ts';
