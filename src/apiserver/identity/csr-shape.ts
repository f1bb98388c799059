import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import type { CertificateSigningRequest, NodeAddress } from '../../gen/kubernetes/types.ts';
import { apiResources, apiVersionOf } from '../../model/api-resources.ts';
import { createCsr } from '../x509/certificate.ts';
import type { X509Subject } from '../x509/names.ts';
import { organizationsOf, type CertificatePair } from './certificate-pair.ts';

/** What a certificate must contain, and which signer issues it. */
export interface CsrShape {
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly subject: X509Subject & { readonly organizations: readonly string[] };
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const nodeSubject = (nodeName: string): CsrShape['subject'] => ({
  commonName: `system:node:${nodeName}`,
  organizations: ['system:nodes'],
});

/** The certificate by which the API server identifies the node. */
export function clientShape(nodeName: string): CsrShape {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
    subject: nodeSubject(nodeName),
    dnsNames: [],
    ipAddresses: [],
  };
}

/** The certificate by which clients identify the node's own server. Undefined as long as the node has no IP address. */
export function servingShape(nodeName: string, addresses: readonly NodeAddress[]): CsrShape | undefined {
  const dnsNames = new Set<string>();
  const ipAddresses = new Set<string>();
  for (const { type, address } of addresses) {
    // An address with a zone has a meaning only on one machine.
    const isAddress = isIP(address) !== 0 && !address.includes('%');
    if (isAddress && !type.endsWith('DNS')) ipAddresses.add(address);
    else if (address !== '' && !type.endsWith('IP')) dnsNames.add(address);
  }
  if (ipAddresses.size === 0) return undefined;
  return {
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
    subject: nodeSubject(nodeName),
    dnsNames: [...dnsNames].toSorted(),
    ipAddresses: [...ipAddresses].toSorted(),
  };
}

/**
 * A name derived from the key and the requested contents: a retry with the same key, after a crash or when an answer
 * was lost, finds the earlier request. The Go kubelet derives it in the same way when it bootstraps.
 */
export function csrName(key: KeyObject, { subject, usages }: CsrShape): string {
  const hash = createHash('sha512-256');
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const parts = [
    publicKey,
    ...[subject.commonName, ...subject.organizations, ...usages].map((text) => Buffer.from(text)),
  ];
  for (const part of parts) hash.update(`${part.toString('base64url')}|`);
  return `node-csr-${hash.digest('base64url')}`;
}

export function csrObject(key: KeyObject, shape: CsrShape): CertificateSigningRequest {
  const { signerName, usages, subject, dnsNames, ipAddresses } = shape;
  return {
    apiVersion: apiVersionOf(apiResources.certificateSigningRequests),
    kind: apiResources.certificateSigningRequests.kind,
    metadata: { name: csrName(key, shape) },
    spec: {
      request: Buffer.from(createCsr({ key, subject, dnsNames, ipAddresses })).toString('base64'),
      signerName,
      usages,
    },
  };
}

/** Whether a certificate contains at least what is wanted; more does no harm. */
export function satisfies(pair: CertificatePair, { subject, dnsNames, ipAddresses }: CsrShape): boolean {
  const organizations = organizationsOf(pair);
  return (
    pair.commonName === subject.commonName &&
    subject.organizations.every((name) => organizations.includes(name)) &&
    dnsNames.every((name) => pair.leaf.checkHost(name, { subject: 'never', wildcards: false }) !== undefined) &&
    ipAddresses.every((address) => pair.leaf.checkIP(address) !== undefined)
  );
}

export function isSameShape(one: CsrShape, other: CsrShape): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
