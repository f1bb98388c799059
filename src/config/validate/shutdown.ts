import { Duration } from '../../base/duration.ts';
import type { Fault } from '../fault.ts';
import { check, needsGate, type ValidationInput } from './rule.ts';

const oneSecond = Duration.parse('1s');

export function checkShutdown({ config, gates }: ValidationInput): readonly Fault[] {
  const { shutdownGracePeriod: whole, shutdownGracePeriodCriticalPods: critical } = config;
  const byPriority = config.shutdownGracePeriodByPodPriority;
  const field = 'shutdownGracePeriodByPodPriority';
  return [
    ...checkPeriod('shutdownGracePeriod', whole),
    ...checkPeriod('shutdownGracePeriodCriticalPods', critical),
    ...check(
      critical.compare(whole) > 0,
      'shutdownGracePeriodCriticalPods',
      critical,
      `must be <= shutdownGracePeriod ${whole.toString()}`,
    ),
    ...needsGate(whole.nanos > 0n || critical.nanos > 0n, 'shutdownGracePeriod', 'GracefulNodeShutdown', gates),
    ...needsGate(byPriority.length > 0, field, 'GracefulNodeShutdownBasedOnPodPriority', gates),
    ...check(
      byPriority.length > 0 && (whole.nanos !== 0n || critical.nanos !== 0n),
      field,
      byPriority,
      'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
    ),
  ];
}

function checkPeriod(field: string, period: Duration): readonly Fault[] {
  return check(
    period.nanos !== 0n && period.compare(oneSecond) < 0,
    field,
    period,
    'must be either zero or otherwise >= 1 sec',
  );
}
