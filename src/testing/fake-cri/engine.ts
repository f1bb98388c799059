import { linkedSignal, type LinkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { UnaryVerb } from '../../cri/index.ts';
import type { ContainerEventResponse } from '../../gen/cri/api.ts';
import type { FakeEvents } from './events.ts';
import type { FakeFaults } from './faults.ts';
import type { Handler, Handlers } from './handlers.ts';

/** One call that reached the fake. */
export interface FakeCall {
  readonly verb: UnaryVerb;
  readonly request: unknown;
  /** Wall time in milliseconds. */
  readonly at: number;
}

/**
 * The server side of the fake, the same for callers in process and over the socket.
 *
 *   up ──crash──> down ──restart──> up
 *
 * While it is down all calls fail as unavailable; calls under way and streams break with the crash.
 */
export class FakeEngine {
  readonly calls: FakeCall[] = [];
  readonly #clock: Clock;
  readonly #handlers: Handlers;
  readonly #faults: FakeFaults;
  readonly #events: FakeEvents;
  readonly #underWay = new Set<LinkedSignal>();
  #up = true;

  constructor(clock: Clock, handlers: Handlers, faults: FakeFaults, events: FakeEvents) {
    this.#clock = clock;
    this.#handlers = handlers;
    this.#faults = faults;
    this.#events = events;
  }

  crash(): void {
    this.#up = false;
    for (const call of this.#underWay) call.abort(new TubeletError('unavailable', 'the connection was lost'));
    this.#events.breakStreams();
  }

  restart(): void {
    this.#up = true;
  }

  async handle<Request, Response>(verb: UnaryVerb, request: Request, signal: AbortSignal): Promise<Response> {
    this.calls.push({ verb, request, at: this.#clock.now() });
    this.#refuseWhenDown();
    const linked = linkedSignal(signal);
    this.#underWay.add(linked);
    // The handler table has the types of each verb; here only the verb's name is known.
    const handler = this.#handlers[verb] as unknown as Handler<Request, Response>;
    try {
      const run = async (): Promise<Response> => handler(request, linked.signal);
      return await this.#faults.around(verb, request, linked.signal, run);
    } finally {
      this.#underWay.delete(linked);
      linked.release();
    }
  }

  events(signal: AbortSignal): AsyncIterable<ContainerEventResponse> {
    this.#refuseWhenDown();
    return this.#events.stream(signal);
  }

  #refuseWhenDown(): void {
    if (!this.#up) throw new TubeletError('unavailable', 'connection refused: the fake runtime is down');
  }
}
