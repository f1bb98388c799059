import type { KeyObject } from 'node:crypto';
import { createCertificate, type ExtendedUsage } from '../apiserver/x509/certificate.ts';
import { createKey, keyToPem } from '../apiserver/x509/keys.ts';

export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

const day = 86_400_000;

/** A certificate authority of a test. */
export class TlsAuthority {
  readonly certificate: string;
  readonly #key: KeyObject;
  readonly #subject: { readonly commonName: string };
  #serial = 1;

  private constructor(key: KeyObject, commonName: string) {
    this.#key = key;
    this.#subject = { commonName };
    this.certificate = createCertificate({ subject: this.#subject, key, isAuthority: true, ...this.#next(365) });
  }

  static async create(commonName = 'test-ca'): Promise<TlsAuthority> {
    return new TlsAuthority(await createKey(), commonName);
  }

  async server(dnsNames: readonly string[] = ['localhost'], ipAddresses: readonly string[] = ['127.0.0.1']) {
    return this.#issue({ commonName: dnsNames[0] ?? 'server' }, 'serverAuth', 30, { dnsNames, ipAddresses });
  }

  async client(commonName: string, organizations: readonly string[] = [], days = 30): Promise<IssuedCertificate> {
    return this.#issue({ commonName, organizations }, 'clientAuth', days);
  }

  async #issue(
    subject: { readonly commonName: string; readonly organizations?: readonly string[] },
    usage: ExtendedUsage,
    days: number,
    names: { readonly dnsNames?: readonly string[]; readonly ipAddresses?: readonly string[] } = {},
  ): Promise<IssuedCertificate> {
    const key = await createKey();
    const issuer = { subject: this.#subject, key: this.#key };
    const certificate = createCertificate({ subject, key, usages: [usage], issuer, ...names, ...this.#next(days) });
    return { certificate, key: keyToPem(key) };
  }

  #next(days: number): { readonly serial: string; readonly notBefore: number; readonly notAfter: number } {
    const now = Date.now();
    return { serial: (this.#serial++).toString(16).padStart(2, '0'), notBefore: now - day, notAfter: now + days * day };
  }
}
