export { validateConfigMap, validateSecret } from './data-objects.ts';
export { type Fault } from './faults.ts';
export { type FieldPath } from './field-path.ts';
export { validatePathNames } from './path-names.ts';
export { defaultPodRules, validatePod, type PodRules } from './pod.ts';
