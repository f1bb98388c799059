import { kindOf, messageOf, type ErrorKind } from './errors.ts';

/** Whom the agent calls: the container runtime, the API server, systemd and logind, one storage driver, or storage that may hang. */
export type CallSystem = 'runtime' | 'apiserver' | 'systemd' | 'storage' | `driver:${string}`;

export interface CallDescription {
  readonly system: CallSystem;
  readonly verb: string;
  /** Ids and names only. Arguments of calls hold environments, commands and passwords. */
  readonly subject?: string;
}

export interface CallFailure {
  readonly kind: ErrorKind;
  readonly message: string;
}

/** Called once, when the call has ended; without a failure it succeeded. */
export type EndCall = (failure?: CallFailure) => void;

/** Records calls that leave the agent. An adapter reports each call when it begins and when it ends. */
export interface Calls {
  begin(call: CallDescription): EndCall;
}

/** Records nothing. */
export const noCalls: Calls = Object.freeze({ begin: () => () => undefined });

/** Makes a call and reports its beginning and its end. Returns or throws the call's own outcome. */
export async function reportedCall<T>(calls: Calls, call: CallDescription, make: () => Promise<T>): Promise<T> {
  const end = calls.begin(call);
  try {
    const answer = await make();
    end();
    return answer;
  } catch (error) {
    end({ kind: kindOf(error), message: messageOf(error) });
    throw error;
  }
}
