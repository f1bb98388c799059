import { nearest } from '../../base/nearest.ts';
import { quote, type Fault } from '../fault.ts';
import type { KubeletFlags } from '../flags/own-flags.ts';
import type { FeatureGates } from '../gates/gates.ts';
import type { GateName } from '../gates/table.ts';
import type { KubeletConfiguration } from '../schema/fields.ts';

export interface ValidationInput {
  readonly config: KubeletConfiguration;
  readonly gates: FeatureGates;
  /** Undefined when a file is validated by itself; rules about the command line are then skipped. */
  readonly flags?: KubeletFlags;
}

/** A rule returns all its faults; it never stops at the first. */
export type Rule = (input: ValidationInput) => readonly Fault[];

/** A fault if `wrong`, with the value in the message. */
export function check(wrong: boolean, field: string, value: unknown, demand: string): readonly Fault[] {
  return wrong ? [{ field, message: `${demand}, got ${quote(value)}` }] : [];
}

/** A fault if something is set that has an effect only with a gate. */
export function needsGate(set: boolean, field: string, gate: GateName, gates: FeatureGates): readonly Fault[] {
  if (!set || gates.enabled(gate)) return [];
  return [{ field, message: `needs the feature gate ${gate}; set featureGates.${gate}: true or remove the field` }];
}

/** A fault if a value is not one of a few words, with the most similar one. */
export function oneOf(field: string, value: string, allowed: readonly string[]): readonly Fault[] {
  if (allowed.includes(value)) return [];
  const words = allowed.map((word) => (word === '' ? 'empty' : word)).join(', ');
  return [{ field, message: `must be one of ${words}, got ${quote(value)}${guessOf(value, allowed)}` }];
}

/** The end of a message about an unknown word: the most similar known one. */
export function guessOf(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}
