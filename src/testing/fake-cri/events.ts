import { linkedSignal, raceAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { ContainerEventResponse, ContainerEventType } from '../../gen/cri/api.ts';
import type { FakeSandbox, FakeState } from './state.ts';
import { containerStatus, sandboxStatus } from './views.ts';

interface Listener {
  readonly queue: ContainerEventResponse[];
  wake: () => void;
  end(reason: unknown): void;
}

/** The event stream of the fake, and the ways in which it can go wrong. */
export class FakeEvents {
  /** Without support the stream is refused, and statuses carry no containers. */
  supported = true;
  readonly #clock: Clock;
  readonly #state: FakeState;
  readonly #listeners = new Set<Listener>();
  #lose = 0;
  #duplicate = 0;
  #delayMs = 0;

  constructor(clock: Clock, state: FakeState) {
    this.#clock = clock;
    this.#state = state;
  }

  /** The next events are lost; Infinity loses all. */
  loseNext(count: number): void {
    this.#lose = count;
  }

  /** The next events come twice. */
  duplicateNext(count: number): void {
    this.#duplicate = count;
  }

  /** Events come late from now on; what they carry is of the time they were made. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  listeners(): number {
    return this.#listeners.size;
  }

  /** Ends every stream, as a restart of the runtime does. */
  breakStreams(): void {
    for (const listener of this.#listeners) listener.end(new TubeletError('unavailable', 'the stream was broken'));
  }

  emit(type: ContainerEventType, id: string, sandbox: FakeSandbox): void {
    if (!this.supported) return;
    if (this.#lose > 0) {
      this.#lose--;
      return;
    }
    const event: ContainerEventResponse = {
      containerId: id,
      containerEventType: type,
      createdAt: this.#state.stamp(),
      podSandboxStatus: sandboxStatus(sandbox),
      containersStatuses: this.#state.containersOf(sandbox.id).map(containerStatus),
    };
    const times = this.#duplicate > 0 ? 2 : 1;
    if (times === 2) this.#duplicate--;
    // Those who listen now get it, however late: a stream opened meanwhile does not see the past.
    const listeners = [...this.#listeners];
    const deliver = (): void => {
      for (const listener of listeners) {
        for (let n = 0; n < times; n++) listener.queue.push(structuredClone(event));
        listener.wake();
      }
    };
    if (this.#delayMs > 0) this.#clock.after(this.#delayMs, deliver);
    else deliver();
  }

  /** Listens from the call on, not from the first `next`. */
  stream(signal: AbortSignal): AsyncIterable<ContainerEventResponse> {
    if (!this.supported) throw new TubeletError('unsupported', 'method GetContainerEvents not implemented');
    const linked = linkedSignal(signal);
    const listener: Listener = { queue: [], wake: () => {}, end: (reason) => linked.abort(reason) };
    this.#listeners.add(listener);
    linked.signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
    const forget = (): void => {
      linked.release();
      this.#listeners.delete(listener);
    };
    return eventsOf(listener, linked.signal, forget);
  }
}

async function* eventsOf(
  listener: Listener,
  signal: AbortSignal,
  forget: () => void,
): AsyncGenerator<ContainerEventResponse> {
  try {
    for (;;) {
      const event = listener.queue.shift();
      if (event !== undefined) {
        yield event;
        continue;
      }
      const arrival = new Promise<void>((resolve) => {
        listener.wake = resolve;
      });
      await raceAbort(arrival, signal);
    }
  } finally {
    forget();
  }
}
