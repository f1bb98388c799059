import { X509Certificate } from 'node:crypto';
import { messageOf } from '../../base/errors.ts';
import { readCertificate, type CertificateFacts, type CertificateSubject } from './certificate-facts.ts';

/** What became of a chain. The reason is for the log: the answer to a client with a bad certificate does not say what is bad about it. */
export type ChainVerdict =
  | {
      readonly trusted: true;
      /** The codes of errors that the TLS library has for chains like this one, and upstream has not. */
      readonly tlsObjections: readonly string[];
      readonly subject: CertificateSubject;
      /** Of the leaf. */
      readonly notAfterMs: number;
      /** Of the first to expire on the way up. */
      readonly untilMs: number;
    }
  | { readonly trusted: false; readonly reason: string };

/** A certificate that was read, of a client or of an authority. */
export interface Link {
  readonly certificate: X509Certificate;
  readonly facts: CertificateFacts;
}

/** Certificates between a leaf and its anchor. */
const maxIntermediates = 8;
/** Certificates of a client that are checked. */
const maxPresented = 10;
/** Ways up that are tried; certificates that all claim to have issued each other make very many. */
const maxPaths = 32;

const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';
/**
 * Extensions that are heeded, or that limit nothing here: key usage, other names, basic constraints, extended usage, key
 * ids, policies and revocation lists. Any other that its issuer marks as critical, name constraints say, is refused.
 */
const knownExtensions: ReadonlySet<string> = new Set([14, 15, 17, 19, 31, 32, 35, 37].map((last) => `2.5.29.${last}`));
/** Signatures with MD2, MD5 and SHA-1: they can be forged. */
const weakSignatures: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10040.4.3',
  '1.2.840.10045.4.1',
  '1.3.14.3.2.29',
]);

/**
 * Whether a client's certificates lead to one of the anchors, for a client. First a way up by names alone; signatures
 * are then checked from the anchor down, so that nothing is ever computed with a key that an unauthenticated client chose.
 */
export function verifyChain(chain: readonly Buffer[], anchors: readonly Link[], nowMs: number): ChainVerdict {
  try {
    const [leaf, ...presented] = chain.slice(0, maxPresented).map(readLink);
    if (leaf === undefined) return { trusted: false, reason: 'no certificate' };
    const fault = faultOfLeaf(leaf, nowMs);
    if (fault !== undefined) return { trusted: false, reason: fault };
    return climb(leaf, presented, anchors, nowMs);
  } catch (error) {
    return { trusted: false, reason: messageOf(error) };
  }
}

function climb(leaf: Link, presented: readonly Link[], anchors: readonly Link[], nowMs: number): ChainVerdict {
  const trusted = (path: readonly Link[]): ChainVerdict => ({
    trusted: true,
    tlsObjections: objectionsTo(path),
    subject: leaf.facts.subject,
    notAfterMs: notAfterOf(leaf),
    untilMs: Math.min(...path.map(notAfterOf)),
  });
  if (anchors.some(({ certificate }) => certificate.raw.equals(leaf.certificate.raw))) return trusted([leaf]);
  let reason = 'not issued by any of the certificate authorities for clients';
  let tried = 0;
  for (const path of pathsUp(leaf, presented, anchors)) {
    if (++tried > maxPaths) return { trusted: false, reason: 'too many ways to the certificate authorities' };
    const fault = faultOfPath(path, nowMs);
    if (fault === undefined) return trusted(path);
    reason = fault;
  }
  return { trusted: false, reason };
}

/** The ways from the leaf to an anchor by what certificates say of each other; leaf first. */
function* pathsUp(leaf: Link, presented: readonly Link[], anchors: readonly Link[]): Generator<readonly Link[]> {
  const waiting: (readonly Link[])[] = [[leaf]];
  for (let tried = 0; tried < 4 * maxPaths; tried++) {
    const path = waiting.shift();
    const top = path?.at(-1);
    if (path === undefined || top === undefined) return;
    for (const anchor of anchors) if (top.certificate.checkIssued(anchor.certificate)) yield [...path, anchor];
    if (path.length > maxIntermediates) continue;
    for (const next of presented) {
      if (!path.includes(next) && next.certificate.ca && top.certificate.checkIssued(next.certificate))
        waiting.push([...path, next]);
    }
  }
}

/** What is wrong with a way up, or nothing. */
function faultOfPath(path: readonly Link[], nowMs: number): string | undefined {
  for (let at = path.length - 1; at > 0; at--) {
    const issuer = path[at];
    const issued = path[at - 1];
    if (issuer === undefined || issued === undefined) return 'an incomplete chain';
    const fault = faultOfIssuer(issuer, at - 1, nowMs);
    if (fault !== undefined) return fault;
    if (weakSignatures.has(issued.facts.signatureAlgorithm))
      return `${nameOf(issued)} is signed in a way that is unsafe`;
    if (!issued.certificate.verify(issuer.certificate.publicKey))
      return `the signature of ${nameOf(issued)} is not that of ${nameOf(issuer)}`;
  }
  return undefined;
}

function faultOfIssuer(link: Link, authoritiesBelow: number, nowMs: number): string | undefined {
  const { certificate, facts } = link;
  if (!certificate.ca) return `${nameOf(link)} is no certificate authority`;
  if (facts.pathLength !== undefined && authoritiesBelow > facts.pathLength)
    return `${nameOf(link)} allows no more than ${facts.pathLength} authorities below it`;
  // An authority that says nothing of it may issue for every purpose.
  const usages = usagesOf(certificate);
  if (usages.length > 0 && !isForClients(usages)) return `${nameOf(link)} does not issue certificates for clients`;
  return faultOfAny(link, nowMs);
}

function faultOfLeaf(link: Link, nowMs: number): string | undefined {
  // One that says nothing of it is for every purpose.
  const usages = usagesOf(link.certificate);
  if (usages.length > 0 && !isForClients(usages)) return `${nameOf(link)} is not for clients (clientAuth)`;
  return faultOfAny(link, nowMs);
}

function faultOfAny(link: Link, nowMs: number): string | undefined {
  const { validFrom, validTo } = link.certificate;
  // Written so that a time that cannot be read counts as bad.
  if (!(Date.parse(validFrom) <= nowMs)) return `${nameOf(link)} is not valid before ${validFrom}`;
  if (!(notAfterOf(link) >= nowMs)) return `${nameOf(link)} was valid until ${validTo}`;
  const unknown = link.facts.criticalExtensions.find((id) => !knownExtensions.has(id));
  return unknown === undefined ? undefined : `${nameOf(link)} demands what is not understood here: ${unknown}`;
}

/**
 * Where the TLS library is stricter than a Go kubelet: "for any purpose" is to it not "for clients", a client's key has to
 * be one for signatures, and a way up has to end in a root.
 */
function objectionsTo(path: readonly Link[]): readonly string[] {
  const [leaf] = path;
  const top = path.at(-1)?.certificate;
  const isForAnything = ({ certificate }: Link): boolean => {
    const usages = usagesOf(certificate);
    return usages.includes(anyUsage) && !usages.includes(clientAuth);
  };
  const isOddPurpose = leaf?.facts.keySigns === false || path.some(isForAnything);
  const endsBelowRoot = top !== undefined && !top.checkIssued(top);
  return [
    ...(isOddPurpose ? ['INVALID_PURPOSE'] : []),
    ...(endsBelowRoot ? ['UNABLE_TO_GET_ISSUER_CERT'] : []),
    // A leaf that is in the file itself needs no issuer.
    ...(endsBelowRoot && path.length === 1
      ? ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']
      : []),
  ];
}

function isForClients(usages: readonly string[]): boolean {
  return usages.includes(clientAuth) || usages.includes(anyUsage);
}

/** Node gives the extended usages under this name, and nothing at all when there are none. */
function usagesOf(certificate: X509Certificate): readonly string[] {
  const usages: readonly string[] | undefined = certificate.keyUsage;
  return usages ?? [];
}

function notAfterOf({ certificate }: Link): number {
  return Date.parse(certificate.validTo);
}

/** Throws when it is no certificate. */
export function readLink(encoded: Buffer | string): Link {
  const certificate = new X509Certificate(encoded);
  return { certificate, facts: readCertificate(certificate.raw) };
}

function nameOf({ facts, certificate }: Link): string {
  const { commonName } = facts.subject;
  return `the certificate ${JSON.stringify(commonName === '' ? certificate.subject : commonName).slice(0, 200)}`;
}
