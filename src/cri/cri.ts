import type { Calls } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { kindOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Tracer } from '../base/tracing.ts';
import type { ContainerEventResponse } from '../gen/cri/api.ts';
import { withCheckedAnswers, withIdempotence } from './answers.ts';
import { containerCalls, type ContainerCalls } from './containers.ts';
import { withDeadline, type CriTimeouts } from './deadline.ts';
import { verbError, withErrorKinds } from './error-kinds.ts';
import { imageCalls, type ImageCalls } from './images.ts';
import { binderOf, type Invoke } from './invoke.ts';
import { withMaskedErrors } from './mask-errors.ts';
import { withObservation, type ObserveCall } from './observation.ts';
import { withReports } from './reported.ts';
import { runtimeCalls, type RuntimeCalls } from './runtime.ts';
import { sandboxCalls, type SandboxCalls } from './sandboxes.ts';
import { statsCalls, type StatsCalls } from './stats.ts';
import { streamingCalls, type StreamingCalls } from './streaming.ts';
import { withTracing } from './tracing.ts';

/** A container runtime behind CRI v1. Every failure is a TubeletError that names its verb. */
export interface Cri extends RuntimeCalls, SandboxCalls, ContainerCalls, StreamingCalls, StatsCalls, ImageCalls {
  /** The endpoint of the runtime, for messages. */
  readonly endpoint: string;
  /**
   * Events of containers from now on. Ends when the signal aborts and throws when the stream breaks; events in between
   * are lost, so a subscriber must relist after each start.
   */
  containerEvents(signal: AbortSignal): AsyncIterable<ContainerEventResponse>;
  /** Cancels running calls and closes the connection. */
  close(): void;
}

/** Transports the calls: gRPC, or a fake in the same process. */
export interface CriTransport {
  readonly endpoint: string;
  readonly invoke: Invoke;
  events(signal: AbortSignal): AsyncIterable<ContainerEventResponse>;
  close(): void;
}

export interface CriDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly timeouts: CriTimeouts;
  readonly observe?: ObserveCall | undefined;
  readonly tracer?: Tracer | undefined;
  /** Records calls while they are running. */
  readonly calls: Calls;
}

/** A transport with all decorators that every call needs; see `Invoke` for the order. */
export function criOver(transport: CriTransport, deps: CriDeps): Cri {
  const checked = withCheckedAnswers(transport.invoke);
  const limited = withDeadline(checked, deps.clock, deps.timeouts);
  const observed = withObservation(withMaskedErrors(withErrorKinds(limited)), deps.clock, deps.log, deps.observe);
  const bind = binderOf(withIdempotence(withReports(withTracing(observed, deps.tracer), deps.calls)));
  return {
    ...runtimeCalls(bind),
    ...sandboxCalls(bind),
    ...containerCalls(bind),
    ...streamingCalls(bind),
    ...statsCalls(bind),
    ...imageCalls(bind),
    endpoint: transport.endpoint,
    containerEvents: (signal) => observedEvents(transport, deps, signal),
    close: () => transport.close(),
  };
}

async function* observedEvents(
  transport: CriTransport,
  deps: CriDeps,
  signal: AbortSignal,
): AsyncGenerator<ContainerEventResponse> {
  const began = deps.clock.monotonic();
  let failure: unknown;
  try {
    yield* transport.events(signal);
  } catch (error) {
    if (signal.aborted) return;
    failure = verbError('containerEvents', error);
    throw failure;
  } finally {
    const seconds = (deps.clock.monotonic() - began) / 1_000;
    deps.observe?.('containerEvents', seconds, failure === undefined ? undefined : kindOf(failure));
  }
}
