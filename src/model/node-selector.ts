import { ownValue } from '../base/own-value.ts';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../gen/kubernetes/types.ts';

interface SelectableNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string | undefined>>;
}

/** One matching term is enough; in a term all requirements must match. An empty or invalid term matches nothing. */
export function matchesNodeSelector(selector: NodeSelector, node: SelectableNode): boolean {
  return selector.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: SelectableNode): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => matchesLabel(requirement, ownValue(node.labels, requirement.key))) &&
    matchFields.every((requirement) => matchesField(requirement, node))
  );
}

function matchesLabel({ operator, values = [] }: NodeSelectorRequirement, label: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return label !== undefined && values.includes(label);
    case 'NotIn':
      return values.length > 0 && (label === undefined || !values.includes(label));
    case 'Exists':
      return values.length === 0 && label !== undefined;
    case 'DoesNotExist':
      return values.length === 0 && label === undefined;
    case 'Gt':
      return compares(label, values, (found, bound) => found > bound);
    case 'Lt':
      return compares(label, values, (found, bound) => found < bound);
    default:
      return false;
  }
}

/** `metadata.name` is the only field that a selector can match; any other is empty. */
function matchesField({ key, operator, values = [] }: NodeSelectorRequirement, node: SelectableNode): boolean {
  if (values.length !== 1) return false;
  const found = key === 'metadata.name' ? node.name : '';
  if (operator === 'In') return found === values[0];
  return operator === 'NotIn' && found !== values[0];
}

function compares(
  label: string | undefined,
  values: readonly string[],
  holds: (found: bigint, bound: bigint) => boolean,
): boolean {
  const found = wholeNumber(label);
  const bound = values.length === 1 ? wholeNumber(values[0]) : undefined;
  return found !== undefined && bound !== undefined && holds(found, bound);
}

function wholeNumber(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  // Upstream parses labels as numbers of 64 bits; a larger one does not match.
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
