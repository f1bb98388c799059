import { ownValue } from '../../base/own-value.ts';
import type { Credential, ObjectCoordinates } from '../credentials/credential.ts';
import { fullRepository } from '../image-name.ts';
import { shownBy, type PullCredentials, type PulledRecord } from './pull-record.ts';

export type VerificationPolicy =
  | 'NeverVerify'
  | 'NeverVerifyPreloadedImages'
  | 'NeverVerifyAllowlistedImages'
  | 'AlwaysVerify';

/** Which images on the node a pod may use without showing credentials for them. */
export interface VerificationRule {
  readonly policy: VerificationPolicy;
  /** Repositories, or beginnings of repositories that end in a slash and a star. */
  readonly allowlist: readonly string[];
}

function requiresVerification(
  { policy, allowlist }: VerificationRule,
  repository: string,
  pulledByUs: boolean,
): boolean {
  if (policy === 'NeverVerify') return false;
  if (policy === 'NeverVerifyPreloadedImages') return pulledByUs;
  if (policy === 'NeverVerifyAllowlistedImages') return !allowlist.some((pattern) => isListed(pattern, repository));
  return true;
}

function isListed(pattern: string, repository: string): boolean {
  if (pattern.endsWith('/*')) return repository.startsWith(pattern.slice(0, -1));
  return fullRepository(pattern) === repository;
}

/** What is known about an image that is on the node. */
export interface KnownImage {
  readonly repository: string;
  readonly record: PulledRecord | undefined;
  /** Whether a pull of it was begun and its end was not recorded. */
  readonly intended: boolean;
}

/**
 *   open       no credentials needed
 *   shown      the pod has a credential with which the image was pulled; `remember` is to be added to the record
 *   mustPull   only the registry can decide
 */
type ImageAccess =
  | { readonly kind: 'open' }
  | { readonly kind: 'shown'; readonly remember?: PullCredentials }
  | { readonly kind: 'mustPull' };

/** Bounds the secrets in a record that are added because they matched: namespaces come and go. */
const maxRemembered = 100;

export function isOpen(rule: VerificationRule, { repository, record, intended }: KnownImage): boolean {
  return !requiresVerification(rule, repository, record !== undefined || intended);
}

/** Whether a pod that has `credentials` may use an image that is not open to all. */
export function computeAccess({ repository, record }: KnownImage, credentials: readonly Credential[]): ImageAccess {
  const known = ownValue(record?.credentialMapping, repository);
  if (known === undefined) return { kind: 'mustPull' };
  if (known.nodePodsAccessible === true) return { kind: 'shown' };
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [] } = known;
  for (const credential of credentials) {
    const { source, hash } = credential;
    if (source.kind === 'secret') {
      const sameHash = kubernetesSecrets.filter(({ credentialHash }) => credentialHash === hash.reveal());
      const samePlace = kubernetesSecrets.filter((secret) => isSame(secret, source));
      if (sameHash.length === 0 && samePlace.length === 0) continue;
      // The same credential in another secret, or another credential in the same secret: both were good once.
      const isNew = !sameHash.some((secret) => isSame(secret, source));
      const remember = isNew && kubernetesSecrets.length < maxRemembered;
      return { kind: 'shown', ...(remember && { remember: shownBy(credential) }) };
    }
    if (source.kind === 'serviceAccount' && kubernetesServiceAccounts.some((account) => isSame(account, source))) {
      return { kind: 'shown' };
    }
  }
  return { kind: 'mustPull' };
}

function isSame(left: ObjectCoordinates, right: ObjectCoordinates): boolean {
  return left.uid === right.uid && left.namespace === right.namespace && left.name === right.name;
}
