import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import {
  bitString,
  explicit,
  integer,
  objectId,
  octetString,
  pem,
  sequence,
  time,
  tlv,
  trueValue,
} from '../apiserver/x509/der.ts';

/** One attribute of a name: its object identifier, its text, and how the text is written (default: UTF8String). */
export type NamePart = readonly [id: string, value: string | Buffer, tag?: number];

export const nameIds = { cn: '2.5.4.3', o: '2.5.4.10', uid: '1.3.6.1.4.1.57683.2' } as const;
export const usageIds = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  any: '2.5.29.37.0',
} as const;

export interface OddCertificateRequest {
  /** Sets of attributes. */
  readonly subject: readonly (readonly NamePart[])[];
  /** Signed by itself when left out. */
  readonly issuer?: OddCertificate;
  readonly notBefore: number;
  readonly notAfter: number;
  /** May sign others; with a number no more than that many authorities below it. */
  readonly authority?: boolean | number;
  /** Without the extension when left out. */
  readonly usages?: readonly string[];
  /** The byte of key usages: 0x80 is digitalSignature, 0x20 keyEncipherment. Without the extension when left out. */
  readonly keyUsage?: number;
  /** Further extensions that are marked as critical. */
  readonly critical?: readonly string[];
  readonly hash?: 'sha256' | 'sha1';
  /** Signed with another key than its issuer's. */
  readonly forgedWith?: KeyObject;
}

export interface OddCertificate {
  readonly der: Buffer;
  readonly pem: string;
  readonly key: KeyObject;
  readonly name: Buffer;
}

const algorithms = { sha256: '1.2.840.10045.4.3.2', sha1: '1.2.840.10045.4.1' };
let serial = 1;

/** Certificates as nobody should make them, and some as one may, for tests of those who read them. */
export function oddCertificate(request: OddCertificateRequest): OddCertificate {
  const { issuer, notBefore, notAfter, hash = 'sha256', forgedWith } = request;
  const key = newKey();
  const name = sequence(...request.subject.map((parts) => tlv(0x31, ...parts.map(attribute))));
  const algorithm = sequence(objectId(algorithms[hash]));
  const body = sequence(
    explicit(0, integer(2)),
    integer(Buffer.from([0x01, (serial >> 8) & 0xff, serial++ & 0xff])),
    algorithm,
    issuer?.name ?? name,
    sequence(time(notBefore), time(notAfter)),
    name,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensionsOf(request))),
  );
  const signature = sign(hash, body, forgedWith ?? issuer?.key ?? key);
  const der = sequence(body, algorithm, bitString(signature));
  return { der, pem: pem('CERTIFICATE', der), key, name };
}

export function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function extensionsOf({
  authority = false,
  usages,
  keyUsage,
  critical = [],
}: OddCertificateRequest): readonly Buffer[] {
  const length = typeof authority === 'number' ? [integer(authority)] : [];
  const constraints = authority === false ? sequence() : sequence(trueValue, ...length);
  return [
    extension('2.5.29.19', constraints, true),
    ...(usages === undefined ? [] : [extension('2.5.29.37', sequence(...usages.map(objectId)), false)]),
    ...(keyUsage === undefined ? [] : [extension('2.5.29.15', bitString(Buffer.from([keyUsage])), true)]),
    ...critical.map((id) => extension(id, sequence(), true)),
  ];
}

function extension(id: string, value: Buffer, isCritical: boolean): Buffer {
  return sequence(objectId(id), ...(isCritical ? [trueValue] : []), octetString(value));
}

function attribute([id, value, tag = 0x0c]: NamePart): Buffer {
  return sequence(objectId(id), tlv(tag, typeof value === 'string' ? Buffer.from(value, 'utf8') : value));
}
