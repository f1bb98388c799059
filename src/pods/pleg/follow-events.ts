import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { ObservableRuntime } from './ports.ts';
import { uidOf } from './to-observed.ts';

export interface FollowEventsOptions {
  readonly runtime: ObservableRuntime;
  readonly log: Log;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Something happened to a container of this pod. */
  readonly hint: (uid: PodUid) => void;
}

/** A runtime may be replaced by one that has events; asking once in a while costs nothing. */
const askAgainMs = 10 * 60_000;
/** A stream that ends at once must not be reopened in a tight loop. */
const reopenMs = 1_000;
/** A stream that lasted this long was no failure: the runtime was restarted, and the loop need not back off. */
const lastedMs = 60_000;

/** Follows the runtime's event stream until it ends. Each event is only a hint to look: none is ever relied upon. */
export async function followEvents(options: FollowEventsOptions): Promise<void> {
  const { runtime, log, clock, signal, hint } = options;
  const opened = clock.monotonic();
  try {
    for await (const event of runtime.containerEvents(signal)) {
      const uid = uidOf(event.podSandboxStatus?.labels ?? {});
      if (uid !== undefined) hint(uid);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (isKind(error, 'unsupported')) {
      log.debug(2, 'The runtime has no container events, relying on relists');
      return clock.sleep(askAgainMs, signal);
    }
    if (clock.monotonic() - opened < lastedMs) throw error;
    log.debug(2, 'The stream of container events broke, opening it again', { why: messageOf(error) });
  }
  await clock.sleep(reopenMs, signal);
}
