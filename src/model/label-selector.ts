import { TubeletError } from '../base/errors.ts';
import { ownValue } from '../base/own-value.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../gen/kubernetes/types.ts';

/** Whether labels are selected: an empty selector matches everything, an undefined one nothing. */
export function selects(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => ownValue(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, ownValue(labels, requirement.key)))
  );
}

function meets({ operator, values = [] }: LabelSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      throw new TubeletError('invalid', `"${operator}" is not a valid label selector operator`);
  }
}

/** A selector as queries have it, in the order of keys: equal selectors have equal texts. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => [key, `${key}=${value}`] as const),
    ...matchExpressions.map((requirement) => [requirement.key, textOf(requirement)] as const),
  ];
  return parts
    .sort(([one, oneText], [other, otherText]) => compare(one, other) || compare(oneText, otherText))
    .map(([, text]) => text)
    .join(',');
}

function textOf({ key, operator, values = [] }: LabelSelectorRequirement): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${operator.toLowerCase()} (${[...values].sort(compare).join(',')})`;
}

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
