import type { Duration } from '../base/duration.ts';
import { resolveGates } from './gates/gates.ts';
import { byDefault } from './origin.ts';
import { isObjectType, isZero, type Fields } from './schema/field-types.ts';
import { defaultEvictionHard, kubeletFields } from './schema/fields.ts';
import { branch, branchOf, leaf, nodeAt, withNode, type Branch, type Path, type SourcedNode } from './sourced-tree.ts';

/** Fills fields without a value, as the v1beta1 API does. Existing values stay, also when they were filled before. */
export function withDefaults(tree: Branch): Branch {
  return fillObject(kubeletFields, withDependentDefaults(tree));
}

/** Defaults that depend on other fields; they must run before the plain ones fill those fields. */
function withDependentDefaults(tree: Branch): Branch {
  let result = tree;
  const update = valueAt(tree, ['nodeStatusUpdateFrequency']) as Duration | undefined;
  if (!isZero(update) && isZero(valueAt(tree, ['nodeStatusReportFrequency']))) {
    result = withNode(result, ['nodeStatusReportFrequency'], leaf(update, byDefault));
  }
  const parallel = valueAt(tree, ['maxParallelImagePulls']);
  if (typeof parallel === 'number' && parallel >= 2 && valueAt(tree, ['serializeImagePulls']) === undefined) {
    result = withNode(result, ['serializeImagePulls'], leaf(false, byDefault));
  }
  return result;
}

/** The defaults of flag mode: without a configuration file the old, open ones apply. */
export function withLegacyDefaults(tree: Branch): Branch {
  const legacy: readonly (readonly [string, unknown])[] = [
    ['authentication.anonymous.enabled', true],
    ['authentication.webhook.enabled', false],
    ['authorization.mode', 'AlwaysAllow'],
    ['readOnlyPort', 10255],
  ];
  return legacy.reduce((result, [path, value]) => withNode(result, path.split('.'), leaf(value, byDefault)), tree);
}

/** The hard eviction thresholds of a configuration file; without a file there are none. */
export function withEvictionDefaults(tree: Branch): Branch {
  const present = tree.entries.get('evictionHard');
  const defaults = branchOf(defaultEvictionHard, byDefault);
  if (present?.kind !== 'branch') return withNode(tree, ['evictionHard'], defaults);
  if (valueAt(tree, ['mergeDefaultEvictionSettings']) !== true) return tree;
  const merged = branch(present.origin, [...defaults.entries, ...present.entries]);
  return withNode(tree, ['evictionHard'], merged);
}

/** Defaults that only an enabled gate adds; they run last, when the gates are resolved. */
export function withGateDefaults(tree: Branch, policy: string, restartPeriod: Duration): Branch {
  const { gates } = resolveGates(gatesOf(tree));
  let result = tree;
  const policyPath = ['imagePullCredentialsVerificationPolicy'];
  if (gates.enabled('KubeletEnsureSecretPulledImages') && isZero(valueAt(tree, policyPath))) {
    result = withNode(result, policyPath, leaf(policy, byDefault));
  }
  const periodPath = ['crashLoopBackOff', 'maxContainerRestartPeriod'];
  if (gates.enabled('KubeletCrashLoopBackOffMax') && valueAt(tree, periodPath) === undefined) {
    result = withNode(result, periodPath, leaf(restartPeriod, byDefault));
  }
  return result;
}

export function gatesOf(tree: Branch): Readonly<Record<string, boolean>> {
  const node = tree.entries.get('featureGates');
  if (node?.kind !== 'branch') return {};
  return Object.fromEntries(
    [...node.entries].map(([name, entry]) => [name, entry.kind === 'leaf' && entry.value === true]),
  );
}

function fillObject(fields: Fields, tree: Branch): Branch {
  const entries = new Map<string, SourcedNode>(tree.entries);
  for (const [name, field] of Object.entries(fields)) {
    const node = entries.get(name);
    if (isObjectType(field.type)) {
      if (node === undefined && field.presence === 'optional') continue;
      entries.set(name, fillObject(field.type.object, node?.kind === 'branch' ? node : branch(byDefault)));
    } else if (field.default !== undefined && takesDefault(field.presence, node)) {
      entries.set(name, leaf(field.default, byDefault));
    }
  }
  return { ...tree, entries };
}

/** An empty list means "none", so it stays; only scalars of plain fields do not distinguish zero from absent. */
function takesDefault(presence: string, node: SourcedNode | undefined): boolean {
  if (node === undefined) return true;
  return presence === 'plain' && node.kind === 'leaf' && !Array.isArray(node.value) && isZero(node.value);
}

function valueAt(tree: Branch, path: Path): unknown {
  const node = nodeAt(tree, path);
  return node?.kind === 'leaf' ? (node.value ?? undefined) : undefined;
}
