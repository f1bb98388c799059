import type { ApiTransport, TransportAnswer, TransportRequest } from '../../src/apiserver/ports.ts';
import { linkedSignal, raceAbort } from '../../src/base/abort.ts';
import type { CallOptions } from '../../src/base/call.ts';
import type { Cri } from '../../src/cri/index.ts';
import type { Life } from './life.ts';

const unheard = new AbortController().signal;

/** The runtime as one life of the agent reaches it. */
export function lifeCri(life: Life, real: Cri): Cri {
  const wrap = (verb: string): unknown => {
    if (verb === 'containerEvents') {
      return (parent: AbortSignal) => {
        const linked = linkedSignal(parent);
        return life.pieces(linked, real.containerEvents(linked.signal));
      };
    }
    const call = real[verb as 'version'] as (request: unknown, options: CallOptions) => Promise<unknown>;
    return (request: unknown, options: CallOptions = {}) =>
      life.through(
        verb,
        request,
        (signal) =>
          life.isUnheeded
            ? raceAbort(call(request, { ...options, signal: unheard }), signal)
            : call(request, { ...options, signal }),
        options.signal,
      );
  };
  return new Proxy(real, { get: (_, verb) => (typeof verb === 'string' ? wrap(verb) : undefined) });
}

/** The wire to the API server. Until the head of an answer comes it is a call, then it is a stream. */
export function lifeApi(life: Life, real: ApiTransport): ApiTransport {
  const send = async (request: TransportRequest): Promise<TransportAnswer> => {
    const linked = linkedSignal(request.signal);
    try {
      const run = (signal: AbortSignal): Promise<TransportAnswer> => real.send({ ...request, signal });
      const answer = await life.onConnection(linked, () => life.calling(linked, request.method, request.path, run));
      return { ...answer, body: life.pieces(linked, answer.body) };
    } catch (error) {
      linked.release();
      throw error;
    }
  };
  const reset = (): void => {
    if (!life.dead) real.reset();
  };
  return { send, reset, close: async () => {} };
}
