import { createPrivateKey, type KeyObject } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { describeError, isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { ApiServerAccess } from '../kubeconfig/access.ts';
import { createKey, keyToPem } from '../x509/keys.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { CertificateStore } from './certificate-store.ts';
import { clientShape } from './csr-shape.ts';
import { kubeconfigText } from './kubeconfig-text.ts';
import type { CertificateFiles, CsrConnection } from './ports.ts';
import { readAccess } from './read-kubeconfig.ts';
import { requestCertificate, usualWaitMs } from './request-certificate.ts';
import { retryDelayMs } from './rotation-plan.ts';

export interface BootstrapDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: CertificateFiles;
  readonly store: CertificateStore;
  /** Connects to the API server with the bootstrap credentials. */
  readonly connect: (access: ApiServerAccess) => Promise<CsrConnection>;
  /** A private key on curve P-256. */
  readonly newKey?: (() => Promise<KeyObject>) | undefined;
}

export interface BootstrapTarget {
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  readonly certDir: string;
  readonly nodeName: string;
  /** For approval, and for an unavailable API server. */
  readonly waitMs?: number;
}

const folderMode = 0o755;
const privateMode = 0o600;

/**
 * Gets the node its first certificate, or the next one when the last has expired. It may be interrupted anywhere: the key
 * is on disk before it is used in a request, and is removed only when the kubeconfig is written.
 *
 *   key.tmp ──> CSR with a name derived from the key ──> pem, link ──> kubeconfig ──> key.tmp removed
 */
export async function bootstrapClient(
  deps: BootstrapDeps,
  target: BootstrapTarget,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, files, store } = deps;
  const { bootstrapKubeconfig, certDir, nodeName } = target;
  const access = await readBootstrapAccess(files, bootstrapKubeconfig);
  log.info('Asking for a client certificate with the bootstrap credentials', {
    node: nodeName,
    kubeconfig: bootstrapKubeconfig,
  });
  await files.makeFolder(certDir, folderMode);
  const pair = await firstCertificate(deps, target, access, signal);
  await store.write(pair, clock.now());
  await finishBootstrap(deps, target);
  log.info('The node has got its client certificate', {
    path: store.currentPath,
    expires: new Date(pair.notAfter).toISOString(),
  });
}

/** The step after the certificate is stored: writes the kubeconfig that refers to it. */
export async function finishBootstrap(
  { files, store }: Pick<BootstrapDeps, 'files' | 'store'>,
  { kubeconfig, bootstrapKubeconfig, certDir }: BootstrapTarget,
): Promise<void> {
  const access = await readBootstrapAccess(files, bootstrapKubeconfig);
  await files.makeFolder(dirname(kubeconfig), folderMode);
  await files.replace(kubeconfig, kubeconfigText(access, store.currentPath), privateMode);
  await files.remove(keyPathIn(certDir));
}

export async function readBootstrapAccess(
  files: Pick<CertificateFiles, 'readText'>,
  path: string,
): Promise<ApiServerAccess> {
  try {
    return await readAccess(files, path);
  } catch (error) {
    throw new TubeletError('invalid', `--bootstrap-kubeconfig ${path} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

const keyPathIn = (certDir: string): string => join(certDir, 'kubelet-client.key.tmp');

async function firstCertificate(
  deps: BootstrapDeps,
  target: BootstrapTarget,
  access: ApiServerAccess,
  signal: AbortSignal,
): Promise<CertificatePair> {
  const { clock, random, log, files } = deps;
  const { certDir, nodeName, waitMs = usualWaitMs } = target;
  const shape = clientShape(nodeName);
  const deadline = clock.monotonic() + waitMs;
  const connection = await deps.connect(access);
  let wasRefused = false;
  try {
    for (let failures = 1; ; failures++) {
      const key = await loadOrMakeKey(deps, certDir);
      const leftMs = Math.max(0, deadline - clock.monotonic());
      try {
        const parts = { clock, random, log, api: connection.api };
        return await requestCertificate(parts, { key, shape }, { signal, waitMs: leftMs });
      } catch (error) {
        if (isKind(error, 'invalid') && !wasRefused) {
          // A request of that name cannot succeed any more; a new key has a new name.
          wasRefused = true;
          log.warn('A certificate cannot be used, asking for another', { err: messageOf(error) });
          await files.remove(keyPathIn(certDir));
          continue;
        }
        const isPassing = isKind(error, 'unavailable', 'timeout', 'exhausted', 'notFound');
        const delayMs = retryDelayMs(failures, random);
        if (!isPassing || clock.monotonic() + delayMs >= deadline) throw error;
        log.warn('No certificate yet, trying again', { err: describeError(error), retryInMs: Math.round(delayMs) });
        await clock.sleep(delayMs, signal);
      }
    }
  } finally {
    await connection.close();
  }
}

/** The key of an interrupted attempt, so that its request is found again; otherwise a new one. */
async function loadOrMakeKey({ files, log, newKey = createKey }: BootstrapDeps, certDir: string): Promise<KeyObject> {
  const path = keyPathIn(certDir);
  const present = await files.readText(path).catch((error: unknown) => {
    if (isKind(error, 'notFound')) return undefined;
    throw error;
  });
  if (present !== undefined) {
    const key = readKey(present);
    if (key !== undefined) return key;
    const aside = await files.putAside(path);
    log.warn('Key of an earlier attempt is damaged; it is put aside, and a new one is made', { path, aside });
  }
  const key = await newKey();
  await files.replace(path, keyToPem(key), privateMode);
  return key;
}

function readKey(text: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    // Not a key: the caller reports that, without the contents.
    return undefined;
  }
}
