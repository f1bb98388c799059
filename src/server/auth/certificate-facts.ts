import { TubeletError } from '../../base/errors.ts';
import {
  derTags,
  readInside,
  readObjectId,
  readSingle,
  readSmallInteger,
  readText,
  readValues,
  type DerValue,
} from './der-reader.ts';

/** Whom a certificate is about. */
export interface CertificateSubject {
  /** Empty where there is none; the last one where there are several. */
  readonly commonName: string;
  /** All of them, in order. */
  readonly organizations: readonly string[];
  /** The user's uid, where the certificate has one. */
  readonly uid: string | undefined;
}

/** What must be known of a certificate to trust it and Node does not expose. */
export interface CertificateFacts {
  readonly subject: CertificateSubject;
  readonly signatureAlgorithm: string;
  /** How many authorities may stand between this one and a leaf; undefined: any number. */
  readonly pathLength: number | undefined;
  /** Whether the key is for signatures or for agreeing on keys; undefined where that is not said. */
  readonly keySigns: boolean | undefined;
  /** Extensions that must not be passed over, by their object identifiers. */
  readonly criticalExtensions: readonly string[];
}

const ids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  /** Below the number of the Cloud Native Computing Foundation. */
  userId: '1.3.6.1.4.1.57683.2',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
};
const extensionsTag = 0xa3;
const versionTag = 0xa0;

/** Reads a certificate in DER. Throws a TubeletError of kind `invalid` when it is not made as it should be. */
export function readCertificate(der: Buffer): CertificateFacts {
  const [body, algorithm] = readValues(readSingle(der, derTags.sequence).content);
  const fields = readInside(body, derTags.sequence).filter((field, index) => index > 0 || field.tag !== versionTag);
  // serial, algorithm, issuer, validity, subject, key, and what may follow
  const [, , , , subject, , ...rest] = fields;
  const holder = rest.find(({ tag }) => tag === extensionsTag);
  const extensions =
    holder === undefined
      ? []
      : readInside(readSingle(holder.content, derTags.sequence), derTags.sequence).map(extension);
  return {
    subject: readSubject(subject),
    signatureAlgorithm: readObjectId(readInside(algorithm, derTags.sequence)[0]),
    pathLength: pathLengthOf(extensions.find(({ id }) => id === ids.basicConstraints)),
    keySigns: keySignsOf(extensions.find(({ id }) => id === ids.keyUsage)),
    criticalExtensions: extensions.filter(({ critical }) => critical).map(({ id }) => id),
  };
}

interface Extension {
  readonly id: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

function extension(encoded: DerValue): Extension {
  const [id, ...rest] = readInside(encoded, derTags.sequence);
  const [first] = rest;
  const critical = first?.tag === derTags.boolean && first.content[0] !== 0;
  const value = rest.at(-1);
  if (value?.tag !== derTags.octetString) throw new TubeletError('invalid', 'malformed certificate: empty extension');
  return { id: readObjectId(id), critical, value: value.content };
}

function pathLengthOf(constraints: Extension | undefined): number | undefined {
  if (constraints === undefined) return undefined;
  const limit = readInside(readSingle(constraints.value, derTags.sequence), derTags.sequence).at(-1);
  return limit?.tag === derTags.integer ? readSmallInteger(limit) : undefined;
}

/** digitalSignature and keyAgreement, in the first byte of the bits. Before it stands how many bits the last byte lacks. */
const signingBits = 0x80 | 0x08;

function keySignsOf(usage: Extension | undefined): boolean | undefined {
  if (usage === undefined) return undefined;
  const bits = readSingle(usage.value, derTags.bitString).content[1] ?? 0;
  return (bits & signingBits) !== 0;
}

function readSubject(name: DerValue | undefined): CertificateSubject {
  const attributes = readInside(name, derTags.sequence).flatMap((set) => readInside(set, derTags.set).map(attribute));
  const textsOf = (wanted: string): readonly string[] =>
    attributes.filter(({ id }) => id === wanted).map(({ value }) => textOf(wanted, value));
  const uids = textsOf(ids.userId);
  if (uids.length > 1) throw new TubeletError('invalid', 'the subject of the certificate has more than one user id');
  return {
    commonName: textsOf(ids.commonName).at(-1) ?? '',
    organizations: textsOf(ids.organization),
    uid: uids[0],
  };
}

function attribute(encoded: DerValue): { readonly id: string; readonly value: DerValue | undefined } {
  const [id, value] = readInside(encoded, derTags.sequence);
  return { id: readObjectId(id), value };
}

function textOf(id: string, value: DerValue | undefined): string {
  const text = value === undefined ? undefined : readText(value);
  if (text === undefined) throw new TubeletError('invalid', `malformed certificate: ${id} in the subject is no text`);
  return text;
}
