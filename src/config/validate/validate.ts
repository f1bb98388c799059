import type { Fault } from '../fault.ts';
import { checkEviction } from './eviction.ts';
import { checkContainers, checkImages } from './images.ts';
import { checkCommandLine, checkTaints } from './node.ts';
import { checkDurations, checkNumbers, checkWords, oddWords } from './ranges.ts';
import {
  checkEnforcement,
  checkMemory,
  checkPolicyOptions,
  checkReservations,
  checkReservedMemory,
} from './resources.ts';
import type { Rule, ValidationInput } from './rule.ts';
import { checkLogging, checkServing } from './serving.ts';
import { checkShutdown } from './shutdown.ts';

const rules: readonly Rule[] = [
  checkNumbers,
  checkWords,
  checkDurations,
  checkEnforcement,
  checkReservations,
  checkReservedMemory,
  checkPolicyOptions,
  checkMemory,
  checkEviction,
  checkImages,
  checkContainers,
  checkServing,
  checkLogging,
  checkShutdown,
  checkTaints,
  checkCommandLine,
];

/** What is odd in a complete configuration, and no reason to refuse it. */
export function validationWarnings(input: ValidationInput): readonly Fault[] {
  return oddWords(input);
}

/** All that is wrong with a complete configuration. */
export function validate(input: ValidationInput): readonly Fault[] {
  return rules.flatMap((rule) => rule(input));
}
