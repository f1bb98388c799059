import type { ContainerResizePolicy, PodSpec, ResourceRequirements } from '../../gen/kubernetes/types.ts';
import { aggregateResources, isHugePages, isOvercommitable } from '../pod-resource-totals.ts';
import { isPodLevelResource } from '../pod-resources.ts';
import { Quantity } from '../quantity.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { qualifiedName } from './names.ts';

const containerResources = ['cpu', 'memory', 'ephemeral-storage'];

export function validateResources(
  resources: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  path: FieldPath,
  faults: Faults,
): void {
  const amounts = readAmounts(resources, path, faults, containerName);
  validateLimitsAndRequests(amounts, path, faults);
  const names = new Set<string>();
  for (const [index, claim] of (resources.claims ?? []).entries()) {
    const at = [...path, 'claims', index, 'name'];
    const key = `${claim.name}/${claim.request ?? ''}`;
    if (claim.name === '') faults.required(at);
    else if (names.has(key)) faults.duplicate(at, claim.name);
    else if (!claimNames.has(claim.name)) faults.notFound(at, claim.name);
    names.add(key);
  }
}

/** Pod-level amounts: of few resources, and never less than what the containers have been promised. */
export function validatePodResources(spec: PodSpec, path: FieldPath, faults: Faults): void {
  if (spec.resources === undefined) return;
  if (spec.resources.claims !== undefined) faults.forbidden([...path, 'claims'], 'claims are for containers only');
  const amounts = readAmounts(spec.resources, path, faults, podName);
  validateLimitsAndRequests(amounts, path, faults);
  for (const [name, together] of aggregateResources(spec, 'requests')) {
    const own = amounts.requests.get(name);
    if (own !== undefined && own.compare(together) < 0) {
      const detail = `must be greater than or equal to aggregate container requests of ${together.toString()}`;
      faults.invalid([...path, 'requests', name], own.toString(), detail);
    }
  }
  for (const [index, container] of spec.containers.entries()) {
    for (const [name, text] of Object.entries(container.resources?.limits ?? {})) {
      const limit = amounts.limits.get(name);
      const own = parseAmount(text);
      if (limit === undefined || own === undefined || own.compare(limit) <= 0) continue;
      const detail = `must be less than or equal to pod limits of ${limit.toString()}`;
      faults.invalid(['spec', 'containers', index, 'resources', 'limits', name], own.toString(), detail);
    }
  }
}

export function validateResizePolicies(
  policies: readonly ContainerResizePolicy[],
  podRestartPolicy: string | undefined,
  path: FieldPath,
  faults: Faults,
): void {
  const seen = new Set<string>();
  for (const [index, policy] of policies.entries()) {
    const at = [...path, index];
    if (seen.has(policy.resourceName)) faults.duplicate(at, policy.resourceName);
    seen.add(policy.resourceName);
    faults.oneOf([...at, 'resourceName'], policy.resourceName, ['cpu', 'memory']);
    faults.oneOf([...at, 'restartPolicy'], policy.restartPolicy, ['NotRequired', 'RestartContainer']);
    if (podRestartPolicy === 'Never' && policy.restartPolicy === 'RestartContainer') {
      const detail = "must be 'NotRequired' when `restartPolicy` is 'Never'";
      faults.invalid([...at, 'restartPolicy'], policy.restartPolicy, detail);
    }
  }
}

interface Amounts {
  readonly limits: ReadonlyMap<string, Quantity>;
  readonly requests: ReadonlyMap<string, Quantity>;
}

function readAmounts(
  resources: ResourceRequirements,
  path: FieldPath,
  faults: Faults,
  nameRule: (name: string) => string | undefined,
): Amounts {
  const read = (kind: 'limits' | 'requests'): ReadonlyMap<string, Quantity> => {
    const amounts = new Map<string, Quantity>();
    for (const [name, text] of Object.entries(resources[kind] ?? {})) {
      const at = [...path, kind, name];
      faults.check(at, name, nameRule);
      const amount = parseAmount(text);
      if (amount === undefined) faults.invalid(at, text, 'must be a valid resource quantity');
      else if (amount.sign() < 0) faults.invalid(at, text, 'must be greater than or equal to 0');
      else if (name.includes('/') && amount.milliValue() % 1000n !== 0n) faults.invalid(at, text, 'must be an integer');
      else amounts.set(name, amount);
    }
    return amounts;
  };
  return { limits: read('limits'), requests: read('requests') };
}

function validateLimitsAndRequests({ limits, requests }: Amounts, path: FieldPath, faults: Faults): void {
  for (const [name, amount] of requests) {
    const at = [...path, 'requests', name];
    const limit = limits.get(name);
    if (limit === undefined) {
      if (!isOvercommitable(name))
        faults.required([...path, 'limits', name], 'must be set where this resource is requested');
    } else if (!isOvercommitable(name) && amount.compare(limit) !== 0) {
      faults.invalid(at, amount.toString(), `must be equal to ${name} limit of ${limit.toString()}`);
    } else if (amount.compare(limit) > 0) {
      faults.invalid(at, amount.toString(), `must be less than or equal to ${name} limit of ${limit.toString()}`);
    }
  }
  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    faults.forbidden(path, 'huge pages need cpu or memory besides them');
  }
}

export function parseAmount(text: string): Quantity | undefined {
  try {
    return Quantity.parse(text);
  } catch {
    // Its only failure: the text is no amount. The caller reports that with the path.
    return undefined;
  }
}

function containerName(name: string): string | undefined {
  const wrong = qualifiedName(name);
  if (wrong !== undefined) return wrong;
  if (!name.includes('/') && !containerResources.includes(name) && !isHugePages(name)) {
    return `must be one of ${containerResources.join(', ')}, hugepages-<size>, or have a prefix such as example.com/`;
  }
  return name.startsWith('requests.') ? 'must not begin with requests.' : undefined;
}

function podName(name: string): string | undefined {
  return isPodLevelResource(name) ? undefined : 'must be one of cpu, memory or hugepages-<size>';
}
