/**
 * The few kinds of failure that code decides upon. Every edge (gRPC, HTTP, errno) maps its own codes to a kind once;
 * inside, code compares kinds and never codes or message texts.
 */
export type ErrorKind =
  | 'notFound'
  | 'alreadyExists'
  | 'invalid'
  | 'denied'
  | 'conflict'
  | 'exhausted'
  | 'unavailable'
  | 'timeout'
  | 'cancelled'
  | 'unsupported'
  | 'internal';

export class TubeletError extends Error {
  override readonly name = 'TubeletError';
  readonly kind: ErrorKind;
  /** The message as the other side sent it, where an edge wrapped it into a longer one. */
  readonly remoteMessage: string | undefined;
  /** The name of the other side's own code, where messages show it. */
  readonly code: string | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options?: { readonly cause?: unknown; readonly remoteMessage?: string; readonly code?: string },
  ) {
    super(message, options);
    this.kind = kind;
    this.remoteMessage = options?.remoteMessage;
    this.code = options?.code;
  }
}

/**
 * An invariant of the code is broken: a mistake of the agent, after which its state may be damaged. Where no code catches
 * it, the agent exits and is started again. Never for requests or responses of other programs.
 */
export class InvariantError extends TubeletError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('internal', message, options);
  }
}

/** The kind of any thrown value; an abort counts as cancelled, any other error that is not ours as internal. */
export function kindOf(error: unknown): ErrorKind {
  if (error instanceof TubeletError) return error.kind;
  if (error instanceof Error && error.name === 'AbortError') return 'cancelled';
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  return 'internal';
}

export function isKind(error: unknown, ...kinds: readonly ErrorKind[]): boolean {
  return kinds.includes(kindOf(error));
}

/** The text of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message as the other side sent it, without what our edges wrapped around it: the text that goes into a pod's status. */
export function remoteMessageOf(error: unknown): string {
  return error instanceof TubeletError && error.remoteMessage !== undefined ? error.remoteMessage : messageOf(error);
}

/** The remote message with its gRPC code, as Go prints such an error: probes and hooks show it so. */
export function grpcErrorText(error: unknown): string {
  const code = error instanceof TubeletError ? error.code : undefined;
  return code === undefined ? remoteMessageOf(error) : `rpc error: code = ${code} desc = ${remoteMessageOf(error)}`;
}

/** The text of an error with those of its causes, outermost first, each text once. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = error; at !== undefined && parts.length < 8; at = at instanceof Error ? at.cause : undefined) {
    const text = messageOf(at);
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(': ');
}
