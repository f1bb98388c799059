import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import {
  bitString,
  explicit,
  implicit,
  integer,
  objectId,
  octetString,
  pem,
  sequence,
  setOf,
  time,
  trueValue,
} from './der.ts';
import { encodeAlternativeNames, encodeSubject, type X509AlternativeNames, type X509Subject } from './names.ts';

export type ExtendedUsage = 'clientAuth' | 'serverAuth';

interface CsrRequest extends X509AlternativeNames {
  /** A private key on curve P-256. */
  readonly key: KeyObject;
  readonly subject: X509Subject;
}

interface CertificateRequest extends X509AlternativeNames {
  readonly subject: X509Subject;
  /** Public, or private: then its public half is used. */
  readonly key: KeyObject;
  /** Hexadecimal, up to 20 bytes; unique among the certificates of an issuer. */
  readonly serial: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** May sign other certificates. */
  readonly isAuthority?: boolean;
  readonly usages?: readonly ExtendedUsage[];
  /** Without it the certificate is self-signed; `key` must be private then. */
  readonly issuer?: { readonly subject: X509Subject; readonly key: KeyObject };
}

const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'));
const extensionRequest = objectId('1.2.840.113549.1.9.14');
const ids = {
  subjectKey: objectId('2.5.29.14'),
  keyUsage: objectId('2.5.29.15'),
  alternativeNames: objectId('2.5.29.17'),
  basicConstraints: objectId('2.5.29.19'),
  authorityKey: objectId('2.5.29.35'),
  extendedUsage: objectId('2.5.29.37'),
};
const usageIds: Readonly<Record<ExtendedUsage, Buffer>> = {
  serverAuth: objectId('1.3.6.1.5.5.7.3.1'),
  clientAuth: objectId('1.3.6.1.5.5.7.3.2'),
};
/** digitalSignature; keyCertSign and cRLSign for authorities. */
const usageBits = { leaf: bitString(Buffer.from([0x80]), 7), authority: bitString(Buffer.from([0x86]), 1) };

/** A PKCS #10 request in PEM form, signed with its own key (ECDSA with SHA-256). */
export function createCsr({ key, subject, ...names }: CsrRequest): string {
  const alternative = encodeAlternativeNames(names);
  const extensions = alternative === undefined ? [] : [extension(ids.alternativeNames, alternative)];
  const attributes = extensions.length === 0 ? [] : [sequence(extensionRequest, setOf(sequence(...extensions)))];
  const info = sequence(integer(0), encodeSubject(subject), publicKeyOf(key), explicit(0, ...attributes));
  return pem('CERTIFICATE REQUEST', signed(info, key));
}

/** A version 3 certificate in PEM form, signed with ECDSA and SHA-256. */
export function createCertificate(request: CertificateRequest): string {
  const { subject, key, serial, notBefore, notAfter, issuer = { subject, key } } = request;
  const body = sequence(
    explicit(0, integer(2)),
    integer(Buffer.from(serial.length % 2 === 0 ? serial : `0${serial}`, 'hex')),
    ecdsaWithSha256,
    encodeSubject(issuer.subject),
    sequence(time(notBefore), time(notAfter)),
    encodeSubject(subject),
    publicKeyOf(key),
    explicit(3, sequence(...extensionsOf(request, issuer.key))),
  );
  return pem('CERTIFICATE', signed(body, issuer.key));
}

function extensionsOf(request: CertificateRequest, issuerKey: KeyObject): readonly Buffer[] {
  const { key, isAuthority = false, usages = [], ...names } = request;
  const alternative = encodeAlternativeNames(names);
  return [
    extension(ids.keyUsage, isAuthority ? usageBits.authority : usageBits.leaf, true),
    ...(usages.length > 0 ? [extension(ids.extendedUsage, sequence(...usages.map((usage) => usageIds[usage])))] : []),
    extension(ids.basicConstraints, isAuthority ? sequence(trueValue) : sequence(), true),
    extension(ids.subjectKey, octetString(keyId(key))),
    extension(ids.authorityKey, sequence(implicit(0, keyId(issuerKey)))),
    ...(alternative === undefined ? [] : [extension(ids.alternativeNames, alternative)]),
  ];
}

function extension(id: Buffer, value: Buffer, critical = false): Buffer {
  return sequence(id, ...(critical ? [trueValue] : []), octetString(value));
}

function publicKeyOf(key: KeyObject): Buffer {
  const half = key.type === 'private' ? createPublicKey(key) : key;
  return half.export({ type: 'spki', format: 'der' });
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha256').update(publicKeyOf(key)).digest().subarray(0, 20);
}

function signed(body: Buffer, key: KeyObject): Buffer {
  return sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, key)));
}
