import { reportedCall, type Calls } from '../base/calls.ts';
import type { Invoke } from './invoke.ts';
import { subjectOf } from './observation.ts';

/** Decorator: each call is reported while it runs, and how it ended. */
export function withReports(next: Invoke, calls: Calls): Invoke {
  return (invocation) => {
    const { verb, request } = invocation;
    const subject = Object.entries(subjectOf(request))
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(' ');
    const call = { system: 'runtime', verb, ...(subject !== '' && { subject }) } as const;
    return reportedCall(calls, call, () => next(invocation));
  };
}
