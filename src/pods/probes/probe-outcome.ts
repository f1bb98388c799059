import type { Decision } from '../../model/decisions.ts';
import { containerEvents } from '../../model/event-reasons.ts';
import type { ProbeEvent, ProbeOutcome, ProbeType } from './ports.ts';
import type { ProbeSettings } from './probe-settings.ts';
import type { TryResult } from './probe-state.ts';

/** How late the agent was: before the try began, and while it was under way. */
interface OwnLag {
  readonly lateMs: number;
  readonly lagMs: number;
}

const minLagMs = 50;
const lagShare = 0.1;

/**
 * The outcome of a try, given how late the agent was. An unanswered try by an agent that was late by more than a tenth of
 * the timeout is inconclusive, because the answer may have come in time. An answer always counts, so that a busy agent
 * never hides that a container reported itself unhealthy.
 */
export function withOwnLag(outcome: ProbeOutcome, lag: OwnLag, timeoutMs: number): ProbeOutcome {
  if (outcome.kind !== 'failure' || outcome.unanswered !== true) return outcome;
  const totalMs = lag.lateMs + lag.lagMs;
  if (totalMs <= Math.max(minLagMs, timeoutMs * lagShare)) return outcome;
  return { kind: 'inconclusive', reason: `the agent itself was ${Math.round(totalMs)} ms late: ${outcome.output}` };
}

export function tryResult(outcome: ProbeOutcome): TryResult {
  switch (outcome.kind) {
    case 'success':
    case 'warning':
      return 'success';
    case 'failure':
      return 'failure';
    case 'error':
      return 'nothing';
    case 'inconclusive':
      return 'inconclusive';
    default:
      return outcome satisfies never;
  }
}

/** The event of an outcome, if it has one. */
export function eventOf(type: ProbeType, outcome: ProbeOutcome, fieldPath: string): ProbeEvent | undefined {
  const event = (reason: string, message: string): ProbeEvent => ({ type: 'Warning', reason, message, fieldPath });
  switch (outcome.kind) {
    case 'success':
    case 'inconclusive':
      return undefined;
    case 'warning':
      return event(containerEvents.probeWarning, `${type} probe warning: ${outcome.output}`);
    case 'failure':
      return event(containerEvents.unhealthy, `${type} probe failed: ${outcome.output}`);
    case 'error':
      return event(
        containerEvents.unhealthy,
        `${type} probe errored and resulted in ${outcome.state} state: ${outcome.error}`,
      );
    default:
      return outcome satisfies never;
  }
}

/** The last try changed the result: the container counts as unhealthy, ready, started, or no longer so. */
export function resultDecision(
  { type, successThreshold, failureThreshold }: Pick<ProbeSettings, 'type' | 'successThreshold' | 'failureThreshold'>,
  containerName: string,
  outcome: ProbeOutcome,
): Decision {
  const hasFailed = tryResult(outcome) === 'failure';
  return {
    kind: 'probe',
    by: 'probes',
    reason: `${type}Probe${hasFailed ? 'Failed' : 'Succeeded'}`,
    message:
      hasFailed && 'output' in outcome ? `the last answer was: ${outcome.output}` : `the ${type} probe succeeded`,
    containerName,
    inputs: { triesInARow: hasFailed ? failureThreshold : successThreshold },
  };
}
