import { TubeletError } from '../../base/errors.ts';
import { readLink, type Link } from './verify-chain.ts';

/** The certificate authorities that clients' certificates come from. */
export interface CaBundle {
  readonly anchors: readonly Link[];
  /** The certificates alone, for a TLS context. */
  readonly pem: string;
}

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whatever is not a certificate is passed over; one that cannot be read spoils the whole text. */
export function parseCaBundle(text: string): CaBundle {
  const blocks = text.match(block) ?? [];
  if (blocks.length === 0) throw new TubeletError('invalid', 'there is no certificate in PEM form in it');
  const anchors = blocks.map((pem, index) => {
    try {
      return readLink(pem);
    } catch (error) {
      throw new TubeletError('invalid', `certificate ${index + 1} of ${blocks.length} cannot be read`, {
        cause: error,
      });
    }
  });
  return { anchors, pem: `${blocks.join('\n')}\n` };
}
