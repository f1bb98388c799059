import type { KeyObject } from 'node:crypto';
import { messageOf } from '../../base/errors.ts';
import type { CertificateSigningRequest } from '../../gen/kubernetes/types.ts';
import { keyToPem } from '../x509/keys.ts';
import { readPair, type CertificatePair } from './certificate-pair.ts';
import { satisfies, type CsrShape } from './csr-shape.ts';

/**
 * The state of a request.
 *
 *   waiting ──Approved──> approved ──signer──> issued, or unusable: not the certificate that was asked for
 *      └──Denied──> denied       └──Failed──> failed
 */
type CsrOutcome =
  | { readonly kind: 'waiting' | 'approved' }
  | { readonly kind: 'issued'; readonly pair: CertificatePair }
  | { readonly kind: 'denied' | 'failed' | 'unusable'; readonly why: string };

export interface RequestedCertificate {
  readonly key: KeyObject;
  readonly shape: CsrShape;
}

export function csrOutcome(
  { spec, status = {} }: CertificateSigningRequest,
  { key, shape }: RequestedCertificate,
  now: number,
): CsrOutcome {
  for (const { type, reason, message } of status.conditions ?? []) {
    if (type !== 'Denied' && type !== 'Failed') continue;
    const why = [reason, message].filter((word) => word !== undefined && word !== '').join(': ');
    return { kind: type === 'Denied' ? 'denied' : 'failed', why: why === '' ? 'no reason given' : why };
  }
  if (spec.signerName !== shape.signerName) return { kind: 'unusable', why: `it is for the signer ${spec.signerName}` };
  const { certificate = '' } = status;
  if (certificate === '') {
    const isApproved = (status.conditions ?? []).some(({ type }) => type === 'Approved');
    return { kind: isApproved ? 'approved' : 'waiting' };
  }
  return verifyIssued(Buffer.from(certificate, 'base64').toString('utf8'), { key, shape }, now);
}

/** An issued certificate is verified: one of another key or name would lock the node out. */
function verifyIssued(text: string, { key, shape }: RequestedCertificate, now: number): CsrOutcome {
  let pair: CertificatePair;
  try {
    pair = readPair(text, keyToPem(key));
  } catch (error) {
    return { kind: 'unusable', why: `what was issued cannot be used: ${messageOf(error)}` };
  }
  if (now >= pair.notAfter)
    return { kind: 'unusable', why: `what was issued expired at ${new Date(pair.notAfter).toISOString()}` };
  if (!satisfies(pair, shape)) {
    return {
      kind: 'unusable',
      why: `the issued certificate is for ${pair.leaf.subject.replaceAll('\n', ', ')} and not all that was asked for`,
    };
  }
  return { kind: 'issued', pair };
}

/** Approval by the controller manager takes seconds, approval by people hours. */
export function pollDelayMs(asked: number): number {
  return Math.min(100 * 1.5 ** asked, 10_000);
}
