import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { createCertificate } from '../x509/certificate.ts';
import { createKey, keyToPem } from '../x509/keys.ts';
import { readPair } from './certificate-pair.ts';
import type { CertificateFiles } from './ports.ts';

interface SelfSignedDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: CertificateFiles;
  /** --cert-dir. */
  readonly folder: string;
  /** The host name in the certificate. */
  readonly hostName: string;
  /** A private key on curve P-256. */
  readonly newKey?: (() => Promise<KeyObject>) | undefined;
}

export interface PairPaths {
  readonly certificateFile: string;
  readonly keyFile: string;
}

const folderMode = 0o755;
const certificateMode = 0o644;
const keyMode = 0o600;
const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

export function selfSignedPaths(folder: string): PairPaths {
  return { certificateFile: join(folder, 'kubelet.crt'), keyFile: join(folder, 'kubelet.key') };
}

/**
 * Makes sure that there is a pair to serve with. A readable one stays, even expired: clients may have been configured
 * to trust that very certificate.
 */
export async function ensureSelfSigned(deps: SelfSignedDeps): Promise<void> {
  const { clock, log, files, folder } = deps;
  const { certificateFile, keyFile } = selfSignedPaths(folder);
  const [certificate, key] = await Promise.all([readIfThere(files, certificateFile), readIfThere(files, keyFile)]);
  if (certificate !== undefined && key !== undefined) {
    try {
      const { notAfter } = readPair(certificate, key);
      if (clock.now() >= notAfter) {
        log.warn('Self-signed serving certificate has expired; remove it and start again to get a new one', {
          path: certificateFile,
          expired: new Date(notAfter).toISOString(),
        });
      }
      return;
    } catch (error) {
      if (!isKind(error, 'invalid')) throw error;
      const aside = await Promise.all([certificateFile, keyFile].map((path) => files.putAside(path)));
      log.warn('Self-signed serving certificate is damaged; it is put aside and made anew', {
        aside,
        err: messageOf(error),
      });
    }
  }
  const made = await makePair(deps);
  await files.makeFolder(folder, folderMode);
  // The key first: a certificate alone would appear as an incomplete pair.
  await files.replace(keyFile, made.key, keyMode);
  await files.replace(certificateFile, made.certificate, certificateMode);
  log.info('Made a self-signed serving certificate', { path: certificateFile, host: deps.hostName });
}

/** A new authority signs one certificate, and its key is discarded, so that it can never sign another one. */
async function makePair({
  clock,
  random,
  hostName,
  newKey = createKey,
}: SelfSignedDeps): Promise<{ readonly certificate: string; readonly key: string }> {
  const now = clock.now();
  const seconds = Math.floor(now / 1_000);
  const [authorityKey, key] = await Promise.all([newKey(), newKey()]);
  const authority = { subject: { commonName: `${hostName}-ca@${seconds}` }, key: authorityKey };
  // Clocks of a cluster differ a little.
  const validity = { notBefore: now - hourMs, notAfter: now - hourMs + yearMs };
  const root = createCertificate({ ...authority, ...validity, serial: random.hex(16), isAuthority: true });
  const leaf = createCertificate({
    subject: { commonName: `${hostName}@${seconds}` },
    key,
    ...validity,
    serial: random.hex(16),
    usages: ['serverAuth'],
    ...(isIP(hostName) === 0 ? { dnsNames: [hostName] } : { ipAddresses: [hostName] }),
    issuer: authority,
  });
  return { certificate: `${leaf}${root}`, key: keyToPem(key) };
}

async function readIfThere(files: CertificateFiles, path: string): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (error) {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  }
}
