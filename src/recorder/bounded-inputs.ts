import { cutText } from '../base/cut-text.ts';
import type { Decision, DecisionInput } from '../model/decisions.ts';
import { decisionLimits } from './recorder-limits.ts';

/** A value as JSON has it. */
type RecordedInput = string | number | boolean | null | readonly RecordedInput[] | RecordedInputs;
export interface RecordedInputs {
  readonly [name: string]: RecordedInput;
}

/** Written in place of what was cut. */
const cut = '…';

interface Budget {
  left: number;
}

/** A small copy of the inputs, cut in number, depth and length. It shares nothing with them. */
export function boundedInputs(inputs: NonNullable<Decision['inputs']>): RecordedInputs {
  return boundedRecord(inputs, 0, { left: decisionLimits.inputsLength });
}

function bounded(input: DecisionInput, depth: number, budget: Budget): RecordedInput {
  if (budget.left <= 0) return cut;
  if (input === undefined || input === null) return spent(null, 4, budget);
  if (typeof input === 'boolean') return spent(input, 5, budget);
  if (typeof input === 'number' && Number.isFinite(input)) return spent(input, 8, budget);
  if (typeof input !== 'object') return boundedText(String(input), budget);
  if (depth >= decisionLimits.inputDepth) return cut;
  return isList(input) ? boundedList(input, depth, budget) : boundedRecord(input, depth, budget);
}

function boundedText(text: string, budget: Budget): string {
  const short = cutText(text, Math.min(decisionLimits.inputTextBytes, Math.max(budget.left, 1)));
  return spent(short.length < text.length ? `${short}${cut}` : short, short.length, budget);
}

function boundedList(list: readonly DecisionInput[], depth: number, budget: Budget): readonly RecordedInput[] {
  const kept: RecordedInput[] = [];
  for (const item of list) {
    if (kept.length >= decisionLimits.inputItems || budget.left <= 0) break;
    kept.push(bounded(item, depth + 1, budget));
  }
  return kept.length < list.length ? [...kept, more(list.length - kept.length)] : kept;
}

function boundedRecord(
  record: { readonly [name: string]: DecisionInput },
  depth: number,
  budget: Budget,
): RecordedInputs {
  const given = Object.entries(record).filter(([, value]) => value !== undefined);
  const kept: [string, RecordedInput][] = [];
  for (const [name, value] of given) {
    if (kept.length >= decisionLimits.inputItems || budget.left <= 0) break;
    kept.push([boundedText(name, budget), bounded(value, depth + 1, budget)]);
  }
  if (kept.length < given.length) kept.push([cut, more(given.length - kept.length)]);
  // Not by assignment: a key may be `__proto__`.
  return Object.fromEntries(kept);
}

const more = (count: number): string => `${count} more`;

function spent<T>(value: T, length: number, budget: Budget): T {
  // Every value takes some room, also an empty one.
  budget.left -= length + 4;
  return value;
}

function isList(input: object): input is readonly DecisionInput[] {
  return Array.isArray(input);
}
