import type {
  Container,
  ContainerRestartRule,
  EphemeralContainer,
  PodSpec,
  Volume,
} from '../../gen/kubernetes/types.ts';
import { validateEnvironment, validateEnvironmentFrom } from './environment.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { validateMounts } from './mounts.ts';
import { dnsLabel } from './names.ts';
import { validateHostPorts, validatePorts } from './ports.ts';
import { validateLifecycle, validateProbe } from './probes.ts';
import { validateResizePolicies, validateResources } from './resources.ts';
import { validateContainerSecurity } from './security.ts';

export interface ContainerRules {
  /** Feature gate ContainerRestartRules: containers may have a restart policy and rules of their own. */
  readonly containerRestartRules: boolean;
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];
const probeKinds = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const maxRestartRules = 20;
const maxExitCodes = 255;

export function validateContainers(
  spec: PodSpec,
  volumes: ReadonlyMap<string, Volume>,
  rules: ContainerRules,
  path: FieldPath,
  faults: Faults,
): void {
  const names = new Set<string>();
  const visit = (container: Container | EphemeralContainer, at: FieldPath): void => {
    validateCommon(container, spec, volumes, at, faults);
    if (names.has(container.name)) faults.duplicate([...at, 'name'], container.name);
    else if (container.name !== '') names.add(container.name);
  };
  if (spec.containers.length === 0) faults.required([...path, 'containers']);
  for (const [index, container] of spec.containers.entries()) {
    const at = [...path, 'containers', index];
    visit(container, at);
    validateRunning(container, spec, at, faults);
    validateRestartPolicy(container, 'container', rules, at, faults);
  }
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = [...path, 'initContainers', index];
    visit(container, at);
    if (container.restartPolicy === 'Always') validateRunning(container, spec, at, faults);
    else forbidRunning(container, at, faults);
    validateRestartPolicy(container, 'init', rules, at, faults);
    // Init containers run one after another, so they may use the same host ports.
    validateHostPorts([[container, at]], false, faults);
  }
  const withPaths = spec.containers.map((one, index) => [one, [...path, 'containers', index]] as const);
  validateHostPorts(withPaths, spec.hostNetwork === true, faults);
  if ((spec.ephemeralContainers ?? []).length > 0) {
    faults.forbidden([...path, 'ephemeralContainers'], 'cannot be set on create');
  }
}

/** What holds for every kind of container. */
function validateCommon(
  container: Container | EphemeralContainer,
  spec: PodSpec,
  volumes: ReadonlyMap<string, Volume>,
  at: FieldPath,
  faults: Faults,
): void {
  if (container.name === '') faults.required([...at, 'name']);
  else faults.check([...at, 'name'], container.name, dnsLabel);
  const { image = '' } = container;
  if (image === '') faults.required([...at, 'image']);
  else if (image !== image.trim()) {
    faults.invalid([...at, 'image'], image, 'must not have leading or trailing whitespace');
  }
  faults.oneOf([...at, 'imagePullPolicy'], container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never']);
  const messagePolicies = ['FallbackToLogsOnError', 'File'];
  faults.oneOf([...at, 'terminationMessagePolicy'], container.terminationMessagePolicy, messagePolicies);
  validatePorts(container.ports ?? [], [...at, 'ports'], faults);
  validateEnvironment(container.env ?? [], volumes, [...at, 'env'], faults);
  validateEnvironmentFrom(container.envFrom ?? [], [...at, 'envFrom'], faults);
  validateMounts(container, volumes, at, faults);
  const claims = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  validateResources(container.resources ?? {}, claims, [...at, 'resources'], faults);
  validateResizePolicies(container.resizePolicy ?? [], spec.restartPolicy, [...at, 'resizePolicy'], faults);
  validateContainerSecurity(container.securityContext, spec.hostUsers !== false, [...at, 'securityContext'], faults);
  if (spec.os?.name === 'linux' && container.securityContext?.windowsOptions !== undefined) {
    faults.forbidden([...at, 'securityContext', 'windowsOptions'], 'may not be set for a linux pod');
  }
}

/** Hooks and probes, for containers that keep running. */
function validateRunning(container: Container, spec: PodSpec, at: FieldPath, faults: Faults): void {
  const gracePeriod = spec.terminationGracePeriodSeconds ?? 0;
  validateLifecycle(container.lifecycle, gracePeriod, spec.os, [...at, 'lifecycle'], faults);
  for (const kind of probeKinds) validateProbe(kind, container[kind], gracePeriod, [...at, kind], faults);
}

function forbidRunning(container: Container, at: FieldPath, faults: Faults): void {
  for (const field of ['lifecycle', ...probeKinds] as const) {
    if (container[field] !== undefined) {
      faults.forbidden([...at, field], 'may not be set for init containers without restartPolicy=Always');
    }
  }
}

function validateRestartPolicy(
  container: Container,
  kind: 'container' | 'init',
  rules: ContainerRules,
  at: FieldPath,
  faults: Faults,
): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  const policyPath = [...at, 'restartPolicy'];
  const rulesPath = [...at, 'restartPolicyRules'];
  if (kind === 'init' && restartPolicy === 'Always') {
    if (restartPolicyRules.length > 0) faults.forbidden(rulesPath, 'not for init containers with restartPolicy Always');
    return;
  }
  if (!rules.containerRestartRules) {
    if (restartPolicy === undefined) return;
    if (kind === 'init') faults.unsupported(policyPath, restartPolicy, ['Always']);
    else faults.forbidden(policyPath, 'may not be set for non-init containers');
    return;
  }
  faults.optionalOneOf(policyPath, restartPolicy, restartPolicies);
  if (restartPolicy === undefined && restartPolicyRules.length > 0) {
    faults.required(policyPath, 'must be set when restartPolicyRules are');
  }
  if (restartPolicyRules.length > maxRestartRules) {
    faults.invalid(rulesPath, restartPolicyRules.length, `must be no more than ${maxRestartRules} rules`);
  }
  restartPolicyRules.forEach((rule, index) => validateRestartRule(rule, [...rulesPath, index], faults));
}

function validateRestartRule(rule: ContainerRestartRule, at: FieldPath, faults: Faults): void {
  faults.oneOf([...at, 'action'], rule.action, ['Restart']);
  if (rule.exitCodes === undefined) return faults.required([...at, 'exitCodes']);
  faults.oneOf([...at, 'exitCodes', 'operator'], rule.exitCodes.operator, ['In', 'NotIn']);
  if ((rule.exitCodes.values ?? []).length > maxExitCodes) {
    faults.invalid([...at, 'exitCodes', 'values'], maxExitCodes, `must be no more than ${maxExitCodes} values`);
  }
}
