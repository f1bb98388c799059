import type { Pod, PodSpec } from '../../gen/kubernetes/types.ts';
import { validateContainers, type ContainerRules } from './containers.ts';
import { Faults, type Fault } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { validateMetadata } from './metadata.ts';
import { dnsLabel, dnsSubdomain } from './names.ts';
import { validateNetwork } from './network.ts';
import { parseAmount, validatePodResources } from './resources.ts';
import { validateScheduling } from './scheduling.ts';
import { validatePodSecurity } from './security.ts';
import { validateVolumes } from './volumes.ts';

export interface PodRules extends ContainerRules {}

/** The gates of a default agent. */
export const defaultPodRules: PodRules = { containerRestartRules: false };

/**
 * Everything that is wrong with a defaulted pod, as the API server would find it when the pod is created. An empty
 * list means that the rest of the agent may rely on the pod.
 */
export function validatePod(pod: Pod, rules: PodRules = defaultPodRules): readonly Fault[] {
  const faults = new Faults();
  validateMetadata(pod.metadata ?? {}, ['metadata'], faults);
  if (pod.spec === undefined) faults.required(['spec']);
  else validateSpec(pod.spec, rules, ['spec'], faults);
  return faults.list;
}

function validateSpec(spec: PodSpec, rules: PodRules, path: FieldPath, faults: Faults): void {
  const volumes = validateVolumes(spec.volumes ?? [], [...path, 'volumes'], faults);
  validateContainers(spec, volumes, rules, path, faults);
  validatePodResources(spec, [...path, 'resources'], faults);
  validateNetwork(spec, path, faults);
  validatePodSecurity(spec, path, faults);
  validateScheduling(spec, path, faults);
  validateClaims(spec, [...path, 'resourceClaims'], faults);
  faults.oneOf([...path, 'restartPolicy'], spec.restartPolicy, ['Always', 'Never', 'OnFailure']);
  faults.atLeast([...path, 'terminationGracePeriodSeconds'], spec.terminationGracePeriodSeconds, 0);
  if (spec.terminationGracePeriodSeconds === undefined) faults.required([...path, 'terminationGracePeriodSeconds']);
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2_147_483_647)) {
    faults.invalid([...path, 'activeDeadlineSeconds'], deadline, 'must be between 1 and 2147483647');
  }
  for (const field of ['nodeName', 'serviceAccountName', 'runtimeClassName'] as const) {
    const value = spec[field];
    if (value) faults.check([...path, field], value, dnsSubdomain);
  }
  if (spec.os !== undefined) faults.oneOf([...path, 'os', 'name'], spec.os.name, ['linux', 'windows']);
  for (const [name, text] of Object.entries(spec.overhead ?? {})) {
    const amount = parseAmount(text);
    if (amount === undefined || amount.sign() < 0) {
      faults.invalid([...path, 'overhead', name], text, 'must be a valid resource quantity');
    }
  }
}

function validateClaims(spec: PodSpec, path: FieldPath, faults: Faults): void {
  const names = new Set<string>();
  for (const [index, claim] of (spec.resourceClaims ?? []).entries()) {
    const at = [...path, index];
    if (claim.name === '') faults.required([...at, 'name']);
    else if (names.has(claim.name)) faults.duplicate([...at, 'name'], claim.name);
    else faults.check([...at, 'name'], claim.name, dnsLabel);
    names.add(claim.name);
    if ((claim.resourceClaimName === undefined) === (claim.resourceClaimTemplateName === undefined)) {
      faults.invalid(at, claim.name, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    }
  }
}
