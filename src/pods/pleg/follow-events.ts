import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Hint, HintStream } from './ports.ts';

interface FollowEventsOptions {
  /** The best first; the next one is asked where the runtime does not have it. */
  readonly streams: readonly HintStream[];
  readonly log: Log;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onHint: (hint: Hint) => void;
  /** A stream was asked for. Whether the runtime has it only shows when it refuses, or tells something. */
  readonly onOpen?: () => void;
  /** It ended, broke or was refused; `error` unless it just ended. */
  readonly onClose?: (error?: unknown) => void;
}

/** A runtime may be replaced by one that has events; asking once in a while costs nothing. */
const askAgainMs = 10 * 60_000;
/** A stream that ends at once must not be reopened in a tight loop. */
const reopenMs = 1_000;
/** A stream that lasted this long was no failure: the runtime was restarted, and the loop need not back off. */
const lastedMs = 60_000;

/** Follows the best stream of hints there is until it ends. None of the hints is ever relied upon. */
export async function followEvents(options: FollowEventsOptions): Promise<void> {
  const { streams, log, clock, signal } = options;
  for (const stream of streams) {
    const opened = clock.monotonic();
    try {
      await followOne(stream, options);
    } catch (error) {
      if (signal.aborted) return;
      if (isKind(error, 'unsupported')) continue;
      if (clock.monotonic() - opened < lastedMs) throw error;
      log.debug(2, 'The stream of container events broke, opening it again', {
        stream: stream.name,
        err: messageOf(error),
      });
    }
    return clock.sleep(reopenMs, signal);
  }
  log.debug(2, 'The runtime has no container events, relying on relists');
  await clock.sleep(askAgainMs, signal);
}

async function followOne(stream: HintStream, options: FollowEventsOptions): Promise<void> {
  const { log, signal, onHint, onOpen, onClose } = options;
  log.debug(4, 'Opening the stream of container events', { stream: stream.name });
  onOpen?.();
  try {
    for await (const hint of stream.hints(signal)) onHint(hint);
  } catch (error) {
    onClose?.(error);
    throw error;
  }
  onClose?.();
}
