import { messageOf } from '../../base/errors.ts';
import {
  evictionSignals,
  isEvictionSignal,
  parseGrace,
  parseMinimumReclaim,
  parseThresholdValue,
} from '../../model/eviction-thresholds.ts';
import type { Fault } from '../fault.ts';
import { check, oneOf, type ValidationInput } from './rule.ts';

export function checkEviction({ config }: ValidationInput): readonly Fault[] {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod: grace, evictionMinimumReclaim: reclaim } = config;
  return [
    ...checkEach('evictionHard', evictionHard, parseThresholdValue),
    ...checkEach('evictionSoft', evictionSoft, parseThresholdValue),
    ...Object.entries(evictionSoft).flatMap(([signal, value]) =>
      check(
        isEvictionSignal(signal) && isThreshold(value) && !Object.hasOwn(grace, signal),
        `evictionSoft.${signal}`,
        value,
        `needs evictionSoftGracePeriod to have ${signal} too`,
      ),
    ),
    ...checkEach('evictionSoftGracePeriod', grace, (_, text) => parseGrace(text)),
    ...checkEach('evictionMinimumReclaim', reclaim, parseMinimumReclaim),
  ];
}

function checkEach(
  field: string,
  texts: Readonly<Record<string, string>>,
  parse: (signal: string, text: string) => unknown,
): readonly Fault[] {
  return Object.entries(texts).flatMap(([signal, text]) => {
    if (!isEvictionSignal(signal)) return oneOf(`${field}.${signal}`, signal, evictionSignals);
    try {
      parse(signal, text);
      return [];
    } catch (error) {
      return [{ field: `${field}.${signal}`, message: messageOf(error) }];
    }
  });
}

/** Two values switch a signal off, and need nothing more. */
const isThreshold = (text: string): boolean => text !== '0%' && text !== '100%';
