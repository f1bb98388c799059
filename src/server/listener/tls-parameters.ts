import type { SecureVersion } from 'node:tls';

/** As in KubeletConfiguration: `VersionTLS12` and its kin, or empty; names of suites as IANA has them. */
export interface TlsSettings {
  readonly minVersion: string;
  readonly cipherSuites: readonly string[];
}

export interface TlsParameters {
  readonly minVersion: SecureVersion;
  /** In the words of OpenSSL. */
  readonly ciphers: string;
  /** Named in the settings, but this program's TLS library does not have them. */
  readonly missing: readonly string[];
}

const versions: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** Those of TLS 1.3 are all good and cannot be chosen; naming them is allowed and changes nothing. */
const newSuites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

const openSslNames: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA',
};

/** Forward secret and authenticated; what every client of these years can do. */
const defaultSuites = Object.keys(openSslNames).slice(0, 6);

/**
 * The settings in the words of OpenSSL. `available` are the suites it has, in lower case. When none of the chosen suites
 * of TLS 1.2 remains, only TLS 1.3 is spoken: falling back to others would be more than was allowed.
 */
export function tlsParameters(settings: TlsSettings, available: ReadonlySet<string>): TlsParameters {
  const wanted = settings.cipherSuites.length === 0 ? defaultSuites : settings.cipherSuites;
  const chosen = new Set<string>();
  const missing: string[] = [];
  for (const suite of wanted) {
    if (newSuites.includes(suite)) continue;
    const name = openSslNames[suite];
    if (name !== undefined && available.has(name.toLowerCase())) chosen.add(name);
    else missing.push(suite);
  }
  const ciphers = [...newSuites, ...chosen].join(':');
  const minVersion = chosen.size === 0 ? 'TLSv1.3' : (versions[settings.minVersion] ?? 'TLSv1.2');
  return { minVersion, ciphers, missing };
}
