import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { RuntimeEvent, RuntimeEventSource } from './ports.ts';

interface FollowEventsOptions {
  /** The best first; the next one is tried where the runtime does not have it. */
  readonly sources: readonly RuntimeEventSource[];
  readonly log: Log;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onEvent: (event: RuntimeEvent) => void;
  /** A stream was asked for. Whether the runtime has it only shows when it refuses, or sends an event. */
  readonly onOpen?: () => void;
  /** It ended, broke or was refused; `error` unless it just ended. */
  readonly onClose?: (error?: unknown) => void;
}

/** A runtime may be replaced by one that has events; asking every ten minutes costs nothing. */
const askAgainMs = 10 * 60_000;
/** A stream that ends at once must not be reopened in a tight loop. */
const reopenMs = 1_000;
/** CRI-O whose events are switched off ends a stream at once and without an error, each time; one that shuts down, once. */
const endsThatMeanOff = 2;
/** A stream that lasted this long was no failure: the runtime was restarted, and the loop need not back off. */
const lastedMs = 60_000;

/** Follows the best stream of events there is until it ends. None of the events is ever relied upon. */
export async function followEvents(options: FollowEventsOptions): Promise<void> {
  const { sources, log, clock, signal } = options;
  for (const source of sources) {
    const opened = clock.monotonic();
    try {
      if ((await followUntilEnd(source, options)) === 'off') continue;
    } catch (error) {
      if (signal.aborted) return;
      if (isKind(error, 'unsupported')) continue;
      if (clock.monotonic() - opened < lastedMs) throw error;
      log.debug(2, 'The stream of container events broke, opening it again', {
        stream: source.name,
        err: messageOf(error),
      });
    }
    return clock.sleep(reopenMs, signal);
  }
  log.debug(2, 'The runtime has no container events, relying on relists');
  await clock.sleep(askAgainMs, signal);
}

/** `off` where the stream ends as often as it is opened, before anything is heard of it. */
async function followUntilEnd(source: RuntimeEventSource, options: FollowEventsOptions): Promise<'ended' | 'off'> {
  const { clock, signal } = options;
  for (let ends = 1; ; ends++) {
    const opened = clock.monotonic();
    const heard = await followOne(source, options);
    if (heard || clock.monotonic() - opened >= reopenMs) return 'ended';
    if (ends >= endsThatMeanOff) return 'off';
    await clock.sleep(reopenMs, signal);
  }
}

/** Until it ends; whether an event came. */
async function followOne(source: RuntimeEventSource, options: FollowEventsOptions): Promise<boolean> {
  const { log, signal, onEvent, onOpen, onClose } = options;
  let heard = false;
  log.debug(4, 'Opening the stream of container events', { stream: source.name });
  onOpen?.();
  try {
    for await (const event of source.events(signal)) {
      heard = true;
      onEvent(event);
    }
  } catch (error) {
    onClose?.(error);
    throw error;
  }
  onClose?.();
  return heard;
}
