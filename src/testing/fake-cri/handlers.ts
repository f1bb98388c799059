import type { Cri, UnaryVerb } from '../../cri/index.ts';

/** One verb of the fake, after its faults and before the wire. */
export type Handler<Request, Response> = (request: Request, signal: AbortSignal) => Response | Promise<Response>;

/** The verbs of a group, with the types the client has for them. */
export type HandlersFor<Verb extends UnaryVerb> = {
  readonly [V in Verb]: Handler<Parameters<Cri[V]>[0], Awaited<ReturnType<Cri[V]>>>;
};

export type Handlers = HandlersFor<UnaryVerb>;
