import { createPrivateKey, X509Certificate } from 'node:crypto';
import { TubeletError } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';

/** A certificate with its private key; they match. */
export interface CertificatePair {
  /** PEM: the certificate itself, then those of its authorities. */
  readonly certificate: string;
  readonly key: Masked<string>;
  /** The first of them, parsed. */
  readonly leaf: X509Certificate;
  readonly commonName: string;
  /** Wall times in milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Differs between any two certificates. */
  readonly fingerprint: string;
}

const certificateBlock = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const keyBlock = /-----BEGIN ((?:EC |RSA )?PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----/;

/**
 * Parses a pair from PEM texts, which may be one and the same. Throws `invalid` with what is wrong, without the
 * contents. An expired pair is valid here.
 */
export function readPair(certificateText: string, keyText: string): CertificatePair {
  const certificates = certificateText.match(certificateBlock) ?? [];
  const [first] = certificates;
  const key = keyBlock.exec(keyText)?.[0];
  if (first === undefined) throw new TubeletError('invalid', 'there is no certificate in PEM form in it');
  if (key === undefined) throw new TubeletError('invalid', 'there is no private key in PEM form in it');
  const leaf = readLeaf(first);
  let fits: boolean;
  try {
    fits = leaf.checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new TubeletError('invalid', 'its private key is damaged', { cause: error });
  }
  if (!fits) throw new TubeletError('invalid', 'its certificate and its private key do not belong together');
  return {
    certificate: certificates.map((block) => `${block}\n`).join(''),
    key: new Masked(`${key}\n`),
    leaf,
    commonName: namesIn(leaf.subject, 'CN')[0] ?? '',
    notBefore: Date.parse(leaf.validFrom),
    notAfter: Date.parse(leaf.validTo),
    fingerprint: leaf.fingerprint256,
  };
}

export function organizationsOf({ leaf }: CertificatePair): readonly string[] {
  return namesIn(leaf.subject, 'O');
}

function readLeaf(text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new TubeletError('invalid', 'its certificate is damaged', { cause: error });
  }
}

/** Node writes a subject as one `TYPE=value` per line; a plus sign joins several of one set. */
function namesIn(subject: string, type: string): readonly string[] {
  return subject
    .split(/\n|\+(?=[A-Z]+=)/)
    .filter((line) => line.startsWith(`${type}=`))
    .map((line) => line.slice(type.length + 1));
}
