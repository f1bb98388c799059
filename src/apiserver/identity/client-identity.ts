import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { ApiServerAccess } from '../kubeconfig/access.ts';
import { bootstrapClient, finishBootstrap, type BootstrapDeps, type BootstrapTarget } from './bootstrap-client.ts';
import { planBootstrap } from './bootstrap-plan.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { CertificateStore } from './certificate-store.ts';
import { clientShape, satisfies } from './csr-shape.ts';
import { readKubeconfig, type KubeconfigReading } from './read-kubeconfig.ts';

export interface ClientIdentityOptions extends BootstrapTarget {
  /** rotateCertificates. `bootstrapKubeconfig` may be empty. */
  readonly rotate: boolean;
}

export interface ClientIdentity {
  readonly access: ApiServerAccess;
  /** Whether `access` uses the store, so that a ClientCertificateManager can renew its certificate. */
  readonly rotates: boolean;
}

/** The first step of an agent with a --kubeconfig: makes sure that the node has an identity, and returns it. */
export async function prepareClientIdentity(
  options: ClientIdentityOptions,
  deps: BootstrapDeps,
  signal: AbortSignal,
): Promise<ClientIdentity> {
  const { kubeconfig, nodeName, bootstrapKubeconfig, rotate } = options;
  const { files, store, clock, log } = deps;
  // Read before the kubeconfig: a damaged certificate is put aside, and the kubeconfig's reference is found dangling.
  const stored = await ownPair(store, nodeName);
  const before = await readKubeconfig(files, kubeconfig);
  const { act, why } = planBootstrap({
    now: clock.now(),
    kubeconfig: before.finding,
    canBootstrap: bootstrapKubeconfig !== '',
    stored,
  });
  if (act === 'fail') {
    const advice = 'give credentials to ask for a certificate with in --bootstrap-kubeconfig, or mend it';
    throw new TubeletError('invalid', `--kubeconfig ${kubeconfig}: ${why}; ${advice}`);
  }
  if (act !== 'keep') {
    log.info('The node needs an identity', { reason: why });
    if (before.finding.kind === 'broken') {
      log.warn('Kubeconfig is put aside', { path: kubeconfig, aside: await files.putAside(kubeconfig) });
    }
    if (act === 'finish') await finishBootstrap(deps, options);
    else await bootstrapClient(deps, options, signal);
  }
  const reading = act === 'keep' ? before : await readKubeconfig(files, kubeconfig);
  if (reading.access === undefined) throw new TubeletError('internal', `${kubeconfig} was written and cannot be read`);
  warnOfExpiry(reading, clock, log, kubeconfig);
  if (!rotate) return { access: reading.access, rotates: false };
  return adopt(reading, reading.access, { clock, log, store, nodeName, kubeconfig });
}

interface AdoptDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: CertificateStore;
  readonly nodeName: string;
  readonly kubeconfig: string;
}

/**
 * Rotation works on the store, so the kubeconfig's certificate is stored first, unless the stored one lives longer.
 * From then on the link is used, independent of the kubeconfig: installers write one that contains the first certificate
 * itself.
 */
async function adopt(
  { pair }: KubeconfigReading,
  access: ApiServerAccess,
  { clock, log, store, nodeName, kubeconfig }: AdoptDeps,
): Promise<ClientIdentity> {
  if (pair === undefined || !satisfies(pair, clientShape(nodeName))) {
    log.warn('Client certificate is not rotated, because the kubeconfig has none of this node', {
      kubeconfig,
      ...(pair !== undefined && { subject: pair.leaf.subject.replaceAll('\n', ', ') }),
    });
    return { access, rotates: false };
  }
  const stored = await ownPair(store, nodeName);
  if (stored === undefined || stored.notAfter < pair.notAfter) await store.write(pair, clock.now());
  const link = { file: store.currentPath };
  return { access: { ...access, user: { ...access.user, clientCertificate: link, clientKey: link } }, rotates: true };
}

async function ownPair(store: CertificateStore, nodeName: string): Promise<CertificatePair | undefined> {
  const pair = await store.read();
  return pair !== undefined && satisfies(pair, clientShape(nodeName)) ? pair : undefined;
}

function warnOfExpiry({ pair }: KubeconfigReading, clock: Clock, log: Log, kubeconfig: string): void {
  if (pair === undefined || clock.now() < pair.notAfter) return;
  log.error(
    new TubeletError('denied', `the client certificate expired at ${new Date(pair.notAfter).toISOString()}`),
    'The API server will not know this node; put a new certificate there or give --bootstrap-kubeconfig',
    { kubeconfig },
  );
}
