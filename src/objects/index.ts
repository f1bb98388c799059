export { createObjects, type Objects, type ObjectsDeps, type ObjectsSettings } from './create-objects.ts';
export { computeObjects, type ComputedObjects, type KnownObjects, type ObjectProblem } from './compute-objects.ts';
export type {
  ObjectsApi,
  PodObjects,
  Reflect,
  ReflectOptions,
  ReferringPod,
  ResourceInbox,
  RunningMirror,
} from './ports.ts';
export { references, referrers } from './references.ts';
export { StandaloneObjects, type StandaloneObjectsDeps } from './standalone-objects.ts';
export { ApiObjects, type ApiObjectsDeps } from './api-objects.ts';
export { askDespiteDenial } from './ask-despite-denial.ts';
export { askedObjects, objectsAtOnce } from './asked-objects.ts';
export { watchedObjects, type SingleWatch } from './watched-objects.ts';
export type { Token } from './tokens/compute-token.ts';
export { PodTokens, type PodTokensDeps } from './tokens/pod-tokens.ts';
export { refusedTrust, TrustBundles, type BundleWatch, type TrustBundlesDeps } from './trust/trust-bundles.ts';
