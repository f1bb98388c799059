import type { NodeSelectorRequirement, PodSpec, Toleration } from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { validateLabels } from './metadata.ts';
import { dnsSubdomain, labelValue, qualifiedName } from './names.ts';

const taintEffects = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'];
const selectorOperators = ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'];

/**
 * What decides where a pod may run. A pod of this node's own folder has been placed already, so only that is checked
 * which the node itself evaluates (tolerations, node affinity) or for which the API server would refuse a mirror pod.
 */
export function validateScheduling(spec: PodSpec, path: FieldPath, faults: Faults): void {
  validateLabels(spec.nodeSelector, [...path, 'nodeSelector'], faults);
  spec.tolerations?.forEach((toleration, index) => {
    validateToleration(toleration, [...path, 'tolerations', index], faults);
  });
  if (spec.priorityClassName) faults.check([...path, 'priorityClassName'], spec.priorityClassName, dnsSubdomain);
  faults.optionalOneOf([...path, 'preemptionPolicy'], spec.preemptionPolicy, ['Never', 'PreemptLowerPriority']);
  spec.readinessGates?.forEach((gate, index) => {
    faults.check([...path, 'readinessGates', index, 'conditionType'], gate.conditionType, qualifiedName);
  });
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    faults.forbidden([...path, 'schedulingGates'], 'may not be set on a pod that has its node');
  }
  validateNodeAffinity(spec, [...path, 'affinity', 'nodeAffinity'], faults);
  validateTopology(spec, [...path, 'topologySpreadConstraints'], faults);
}

function validateToleration(toleration: Toleration, path: FieldPath, faults: Faults): void {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (key !== '') faults.check([...path, 'key'], key, qualifiedName);
  else if (operator !== 'Exists') {
    faults.invalid([...path, 'operator'], operator, 'must be Exists when `key` is empty, which matches everything');
  }
  if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
    faults.invalid([...path, 'effect'], effect, 'must be NoExecute when `tolerationSeconds` is set');
  }
  if (operator === 'Exists') {
    if (value !== '') faults.invalid([...path, 'value'], value, 'must be empty when `operator` is Exists');
  } else if (operator === '' || operator === 'Equal') faults.check([...path, 'value'], value, labelValue);
  else faults.unsupported([...path, 'operator'], operator, ['Equal', 'Exists']);
  if (effect !== '') faults.oneOf([...path, 'effect'], effect, taintEffects);
}

function validateNodeAffinity(spec: PodSpec, path: FieldPath, faults: Faults): void {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return;
  const at = [...path, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'];
  if (required.nodeSelectorTerms.length === 0) faults.required(at, 'must have at least one node selector term');
  for (const [index, term] of required.nodeSelectorTerms.entries()) {
    for (const kind of ['matchExpressions', 'matchFields'] as const) {
      term[kind]?.forEach((requirement, position) => {
        validateRequirement(requirement, [...at, index, kind, position], faults);
      });
    }
  }
}

function validateRequirement(requirement: NodeSelectorRequirement, path: FieldPath, faults: Faults): void {
  const { operator, values = [] } = requirement;
  faults.check([...path, 'key'], requirement.key, qualifiedName);
  faults.oneOf([...path, 'operator'], operator, selectorOperators);
  const at = [...path, 'values'];
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    faults.required(at, 'must be specified when `operator` is In or NotIn');
  } else if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    faults.forbidden(at, 'may not be specified when `operator` is Exists or DoesNotExist');
  } else if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1) {
    faults.required(at, 'must be a single number when `operator` is Lt or Gt');
  }
}

function validateTopology(spec: PodSpec, path: FieldPath, faults: Faults): void {
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = [...path, index];
    if (constraint.maxSkew <= 0) faults.invalid([...at, 'maxSkew'], constraint.maxSkew, 'must be greater than zero');
    if (constraint.topologyKey === '') faults.required([...at, 'topologyKey'], 'can not be empty');
    faults.oneOf([...at, 'whenUnsatisfiable'], constraint.whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']);
  }
}
