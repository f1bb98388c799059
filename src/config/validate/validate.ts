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

/** Warnings about a complete configuration, which do not make it invalid. */
export function validationWarnings(input: ValidationInput): readonly Fault[] {
  return oddWords(input);
}

/** All faults of a complete configuration. */
export function validate(input: ValidationInput): readonly Fault[] {
  return rules.flatMap((rule) => rule(input));
}
