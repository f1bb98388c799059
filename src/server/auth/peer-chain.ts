import type { DetailedPeerCertificate } from 'node:tls';
import type { Credentials } from './ports.ts';

const maxCertificates = 10;

/** The raw certificates of a client, leaf first; empty when it showed none. */
export function chainOf({ chain, certificate }: Credentials): readonly Buffer[] {
  return chain ?? chainOfPeer(certificate);
}

/**
 * Those of a connection, by `socket.getPeerCertificate(true)`, which is an empty object when there are none. The chain
 * may end in an authority of ours.
 */
export function chainOfPeer(certificate: Partial<DetailedPeerCertificate> | undefined): readonly Buffer[] {
  const chain: Buffer[] = [];
  let at = certificate;
  while (at?.raw !== undefined && chain.length < maxCertificates) {
    const { raw, issuerCertificate } = at;
    // One that issued itself is its own issuer here, for ever.
    if (chain.some((known) => known.equals(raw))) break;
    chain.push(raw);
    at = issuerCertificate;
  }
  return chain;
}
