import type { Clock } from '../../base/clock.ts';
import { describeError, isKind, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { jitter, type Random } from '../../base/random.ts';
import type { CertificateSigningRequest } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import { ApiError } from '../api-error.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { csrOutcome, pollDelayMs, type RequestedCertificate } from './csr-outcome.ts';
import { csrName, csrObject } from './csr-shape.ts';
import type { CsrApi } from './ports.ts';

interface RequestDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly api: CsrApi;
}

interface CertificateWait {
  readonly signal: AbortSignal;
  /** After this time the agent stops waiting; the request stays at the API server. */
  readonly waitMs: number;
  /** Called from time to time: false when another certificate is wanted by now. */
  readonly isWanted?: () => boolean;
}

export const usualWaitMs = 15 * 60_000;
const pollJitter = 0.2;
/** After this time an operator probably has to approve the request. */
const warnAfterMs = 10_000;
const resource = apiResources.certificateSigningRequests;

/**
 * Requests a certificate and waits until it is issued. A retry with the same key continues the earlier request.
 * Throws `denied` when it was denied or is forbidden, `invalid` when the issued certificate cannot be used, `timeout`,
 * `conflict` when it is not wanted any more, `notFound` when the request was deleted.
 */
export async function requestCertificate(
  deps: RequestDeps,
  asked: RequestedCertificate,
  wait: CertificateWait,
): Promise<CertificatePair> {
  const { api, log } = deps;
  const name = csrName(asked.key, asked.shape);
  try {
    await api.create<CertificateSigningRequest>(resource, undefined, csrObject(asked.key, asked.shape), {
      signal: wait.signal,
    });
    log.info('Asked for a certificate', { csr: name, signer: asked.shape.signerName });
  } catch (error) {
    if (!isKind(error, 'alreadyExists')) throw explained(error);
    log.debug(2, 'The certificate was asked for before', { csr: name });
  }
  return awaitCertificate(deps, name, asked, wait);
}

async function awaitCertificate(
  { clock, random, log, api }: RequestDeps,
  name: string,
  asked: RequestedCertificate,
  { signal, waitMs, isWanted }: CertificateWait,
): Promise<CertificatePair> {
  const began = clock.monotonic();
  let warned = false;
  let trouble: unknown;
  for (let poll = 0; ; poll++) {
    const csr = await read(api, name, signal).catch((error: unknown) => {
      // The server may be unavailable for a while; the request still exists when it comes back.
      if (!isKind(error, 'unavailable', 'timeout', 'exhausted')) throw explained(error);
      trouble = error;
      return undefined;
    });
    if (csr !== undefined) {
      trouble = undefined;
      const outcome = csrOutcome(csr, asked, clock.now());
      if (outcome.kind === 'issued') return outcome.pair;
      if ('why' in outcome) throw refusal(name, outcome.kind, outcome.why);
    }
    if (isWanted?.() === false)
      throw new TubeletError('conflict', `the certificate signing request ${name} is not wanted any more`);
    const waitedMs = clock.monotonic() - began;
    if (waitedMs >= waitMs) throw late(name, waitMs, trouble);
    if (!warned && waitedMs >= warnAfterMs && trouble === undefined) {
      warned = true;
      log.info('A certificate signing request waits to be approved', { csr: name, command: approve(name) });
    }
    await clock.sleep(Math.min(jitter(random, pollDelayMs(poll), pollJitter), waitMs - waitedMs), signal);
  }
}

function read(api: CsrApi, name: string, signal: AbortSignal): Promise<CertificateSigningRequest> {
  return api.get<CertificateSigningRequest>(resource, { name }, { signal });
}

const approve = (name: string): string => `kubectl certificate approve ${name}`;

function refusal(name: string, kind: 'denied' | 'failed' | 'unusable', why: string): TubeletError {
  const csr = `the certificate signing request ${name}`;
  if (kind === 'unusable') {
    return new TubeletError('invalid', `${csr}: ${why}; it is not used, and another one will be asked for`);
  }
  const what = kind === 'denied' ? 'was denied' : 'was approved but could not be signed';
  const advice = `when that is mended, let the node ask again: kubectl delete csr ${name}`;
  return new TubeletError('denied', `${csr} ${what} (${why}); ${advice}`);
}

function late(name: string, waitMs: number, trouble: unknown): TubeletError {
  const minutes = Math.round(waitMs / 60_000);
  if (trouble !== undefined) {
    const words = `the API server did not answer about the certificate signing request ${name}: ${describeError(trouble)}`;
    return new TubeletError('timeout', words, { cause: trouble });
  }
  return new TubeletError(
    'timeout',
    `the certificate signing request ${name} has not been approved and signed within ${minutes} minutes; approve it with: ${approve(name)}`,
  );
}

/** Explains a refusal in terms of certificates. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.kind !== 'denied') return error;
  const advice =
    error.status === 401
      ? 'the API server does not accept the credentials; a bootstrap token may have expired: kubeadm token create'
      : 'the credentials do not suffice; bind the group system:bootstrappers to the ClusterRole system:node-bootstrapper';
  return new TubeletError('denied', `no certificate can be asked for: ${advice}`, {
    cause: error,
    remoteMessage: error.remoteMessage ?? '',
  });
}
