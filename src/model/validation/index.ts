export { validateContainers, type ContainerRules } from './containers.ts';
export { validateConfigMap, validateSecret } from './data-objects.ts';
export { Faults, type Fault } from './faults.ts';
export { formatPath, type FieldPath } from './field-path.ts';
export { validatePathNames } from './path-names.ts';
export { defaultPodRules, validatePod, type PodRules } from './pod.ts';
