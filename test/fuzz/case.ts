import type { ListenerName } from '../../src/server/route.ts';
import type { Entry } from './callers.ts';

/** How a client's side of TLS is. */
export interface TlsChoice {
  /** Which certificate it shows. */
  readonly certificate?: string | undefined;
  readonly alpn: readonly string[];
  readonly version?: 'TLSv1.2' | 'TLSv1.3' | undefined;
  /** What becomes of the encrypted bytes that the client sends, from this one on. */
  readonly damage?: { readonly from: number; readonly how: 'flip' | 'lose' | 'stop' | 'double' };
}

export type Step = { readonly kind: 'say'; readonly bytes: Buffer } | { readonly kind: 'wait'; readonly ms: number };

/**
 * How a client leaves. Whoever stays must see the other side go within bounds; nobody else is waited for, but what they
 * leave behind must go as well.
 */
export type Leave =
  | { readonly kind: 'stay' }
  /** Says that nothing more will come, and stays. */
  | { readonly kind: 'end' }
  /** After so many bytes, or so long. */
  | { readonly kind: 'vanish'; readonly bytes: number; readonly ms: number; readonly reset: boolean }
  /** Reads nothing for a while, then stays. */
  | { readonly kind: 'deaf'; readonly ms: number };

/** One connection: everything a client says, and what is known of it beforehand. */
export interface FuzzCase {
  readonly kind: string;
  readonly listener: ListenerName;
  /** Nothing: bytes go out as they are, on the secured port too. */
  readonly tls?: TlsChoice | undefined;
  readonly protocol: 'http1' | 'http2' | 'none';
  readonly steps: readonly Step[];
  readonly leave: Leave;
  readonly entry: Entry;
  /** The methods of the requests in order, where they are well-formed and each gets its answer. */
  readonly methods?: readonly string[] | undefined;
  /** Exactly one refusal may come, whatever follows in the bytes. */
  readonly oneAnswer?: true;
  /** The runtime's answer may come through as it is. */
  readonly handsOver?: true;
  /** The caller's own command may be told back to it. */
  readonly echoesCommand?: true;
}

export const say = (bytes: Buffer | string): Step => ({
  kind: 'say',
  bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
});
export const wait = (ms: number): Step => ({ kind: 'wait', ms });
export const stay: Leave = { kind: 'stay' };
