import type { Log } from '../../base/log.ts';
import type { PodEvents } from '../../pods/runtime/index.ts';

/** Without an API server events go where they can still be read: into the log. */
export function loggedEvents(log: Log): PodEvents {
  return {
    record: ({ namespace, name }, { type, reason, message, fieldPath }) =>
      log.info('Event occurred', {
        object: { namespace, name },
        ...(fieldPath !== undefined && { fieldPath }),
        kind: 'Pod',
        apiVersion: 'v1',
        type,
        reason,
        message,
      }),
  };
}
