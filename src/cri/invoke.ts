import type { CallOptions } from '../base/call.ts';
import type { UnaryVerb } from './verbs.ts';

/** One verb, ready to be called. */
export type Call<Request, Response> = (request: Request, options?: CallOptions) => Promise<Response>;

/** What a transport needs to know of a method; the generated service definitions have this shape. */
interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (response: Response) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** Properties of one verb. */
interface VerbTraits<Request, Response> {
  /** The deadline; undefined is none. Default: the request timeout. */
  readonly limitMs?: (request: Request, requestMs: number) => number | undefined;
  /** What is missing from an unusable answer. */
  readonly flaw?: (response: Response) => string | undefined;
  /** The answer when the object that the verb should stop or remove does not exist. */
  readonly notFoundIs?: Response;
}

/** One call on its way through the decorators. */
export interface Invocation<Request, Response> {
  readonly verb: UnaryVerb;
  readonly method: Method<Request, Response>;
  readonly traits: VerbTraits<Request, Response>;
  readonly request: Request;
  readonly options: CallOptions;
}

/**
 * The one shape that transports and decorators share:
 *
 *   caller ──> idempotent ──> reported ──> traced ──> observed ──> masked ──> error kinds ──> deadline ──> checked ──> transport (gRPC, or a fake)
 */
export type Invoke = <Request, Response>(invocation: Invocation<Request, Response>) => Promise<Response>;

/** Binds verbs to an invoker; the verb groups are made with it. */
export type Binder = <Request, Response>(
  verb: UnaryVerb,
  method: Method<Request, Response>,
  traits?: VerbTraits<Request, Response>,
) => Call<Request, Response>;

export function binderOf(invoke: Invoke): Binder {
  return (verb, method, traits = {}) =>
    (request, options = {}) =>
      invoke({ verb, method, traits, request, options });
}
