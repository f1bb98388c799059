import type { ChainVerdict } from './verify-chain.ts';

/**
 * Both the TLS library and our own reading must find a chain good. Where the library is stricter than a Go kubelet its
 * word does not count, and the chain says whether it is such a one. Its verdict is that of the handshake, under the
 * authorities of then: a client that is refused for it has to connect again.
 */
export function withTlsVerdict(verdict: ChainVerdict, tlsVerdict = 'none'): ChainVerdict {
  if (!verdict.trusted || tlsVerdict === 'ok' || verdict.tlsObjections.includes(tlsVerdict)) return verdict;
  return { trusted: false, reason: `the TLS library does not take it: ${tlsVerdict}` };
}
