import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { NodeAddress } from '../../gen/kubernetes/types.ts';
import { accessFiles, type AccessFiles } from '../credentials/access-files.ts';
import { CertificateStore } from './certificate-store.ts';
import { FileServingCertificate } from './file-serving-certificate.ts';
import { IssuedServingCertificate } from './issued-serving-certificate.ts';
import type { CertificateFiles, CsrApi } from './ports.ts';
import { ensureSelfSigned, selfSignedPaths } from './self-signed.ts';
import type { ServingCertificates } from './serving-certificate.ts';

export interface ServingOptions {
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  /** --cert-dir. */
  readonly certDir: string;
  readonly serverTlsBootstrap: boolean;
  /** ReloadKubeletServerCertificateFile. */
  readonly reloadFiles: boolean;
  readonly nodeName: string;
  /** The host name in a self-signed certificate. */
  readonly hostName: string;
}

interface ServingDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly files: CertificateFiles;
  readonly watched?: AccessFiles;
  /** A private key on curve P-256. */
  readonly newKey?: (() => Promise<KeyObject>) | undefined;
  /** Absent when there is no API server. */
  readonly cluster?: { readonly api: CsrApi; readonly addresses: () => readonly NodeAddress[] } | undefined;
}

/** Chooses the source of the serving certificate: the cluster, configured files, or the agent itself. */
export function servingCertificates(
  options: ServingOptions,
  deps: ServingDeps,
): ServingCertificates & { addressesChanged?(): void } {
  const { tlsCertFile, tlsPrivateKeyFile, certDir, serverTlsBootstrap, reloadFiles, nodeName, hostName } = options;
  const { clock, random, log, heartbeats, metrics, files, watched = accessFiles, cluster, newKey } = deps;
  if (serverTlsBootstrap && cluster !== undefined) {
    const store = new CertificateStore({ files, log, folder: certDir, purpose: 'server' });
    return new IssuedServingCertificate({
      clock,
      random,
      log,
      heartbeats,
      metrics,
      store,
      nodeName,
      newKey,
      ...cluster,
    });
  }
  if (serverTlsBootstrap)
    log.warn('There is no API server to ask for a serving certificate; serving with one of our own');
  const parts = { clock, random, log, heartbeats, files: watched, reload: reloadFiles };
  if (tlsCertFile !== '' && tlsPrivateKeyFile !== '') {
    return new FileServingCertificate({ ...parts, certificateFile: tlsCertFile, keyFile: tlsPrivateKeyFile });
  }
  const prepare = (): Promise<void> =>
    ensureSelfSigned({ clock, random, log, files, folder: certDir, hostName, newKey });
  return new FileServingCertificate({ ...parts, ...selfSignedPaths(certDir), prepare });
}
