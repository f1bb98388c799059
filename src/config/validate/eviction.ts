import { Duration } from '../../base/duration.ts';
import type { Fault } from '../fault.ts';
import { isPercentage, parsed } from './resources.ts';
import { check, oneOf, type ValidationInput } from './rule.ts';

const signals: readonly string[] = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
];

export function checkEviction({ config }: ValidationInput): readonly Fault[] {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod: grace, evictionMinimumReclaim: reclaim } = config;
  return [
    ...checkThresholds('evictionHard', evictionHard),
    ...checkThresholds('evictionSoft', evictionSoft),
    ...Object.entries(evictionSoft).flatMap(([signal, value]) =>
      check(
        !Object.hasOwn(grace, signal),
        `evictionSoft.${signal}`,
        value,
        `needs evictionSoftGracePeriod to have ${signal} too`,
      ),
    ),
    ...Object.entries(grace).flatMap(([signal, value]) => [
      ...checkSignal('evictionSoftGracePeriod', signal),
      ...check(!isSpan(value), `evictionSoftGracePeriod.${signal}`, value, 'must be a duration such as 1m30s'),
    ]),
    ...Object.entries(reclaim).flatMap(([signal, value]) => [
      ...checkSignal('evictionMinimumReclaim', signal),
      ...check(
        !isPercentage(value) && !((parsed(value)?.sign() ?? -1) >= 0),
        `evictionMinimumReclaim.${signal}`,
        value,
        'must be a quantity such as 500Mi or a percentage, not negative',
      ),
    ]),
  ];
}

function checkThresholds(field: string, thresholds: Readonly<Record<string, string>>): readonly Fault[] {
  return Object.entries(thresholds).flatMap(([signal, value]) => [
    ...checkSignal(field, signal),
    ...check(
      !isPercentage(value) && parsed(value)?.sign() !== 1,
      `${field}.${signal}`,
      value,
      'must be a quantity such as 100Mi or a percentage from 0% to 100%',
    ),
  ]);
}

function checkSignal(field: string, signal: string): readonly Fault[] {
  return oneOf(`${field}.${signal}`, signal, signals);
}

function isSpan(text: string): boolean {
  try {
    return Duration.parse(text).nanos >= 0n;
  } catch {
    // The caller reports the expected value.
    return false;
  }
}
