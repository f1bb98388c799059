import { TubeletError } from '../../base/errors.ts';
import { ownValue } from '../../base/own-value.ts';
import type { Credential, ObjectCoordinates } from '../credentials/credential.ts';

/** A secret with which an image was pulled, with the hash of the credential that it held then. */
interface PullSecret extends ObjectCoordinates {
  readonly credentialHash: string;
}

/** Which pods may use an image that is on the node. */
export interface PullCredentials {
  readonly kubernetesSecrets?: readonly PullSecret[];
  readonly kubernetesServiceAccounts?: readonly ObjectCoordinates[];
  /** All pods of the node: it was pulled with the node's own credentials, or with none. */
  readonly nodePodsAccessible?: boolean;
}

/** What is known of an image that an agent of this node has pulled, this process or an earlier one. */
export interface PulledRecord {
  readonly lastUpdatedTime: string;
  readonly imageRef: string;
  /** By repository: the same image may be public under one name and private under another. */
  readonly credentialMapping: Readonly<Record<string, PullCredentials>>;
}

const apiVersions: readonly string[] = ['kubelet.config.k8s.io/v1alpha1', 'kubelet.config.k8s.io/v1beta1'];
const [apiVersion] = apiVersions;

export function encodeIntent(image: string): string {
  return `${JSON.stringify({ kind: 'ImagePullIntent', apiVersion, image })}\n`;
}

export function encodePulled(record: PulledRecord): string {
  const { lastUpdatedTime, imageRef, credentialMapping } = record;
  const fields = { kind: 'ImagePulledRecord', apiVersion, lastUpdatedTime, imageRef };
  const mapped = Object.keys(credentialMapping).length > 0;
  return `${JSON.stringify({ ...fields, ...(mapped && { credentialMapping }) })}\n`;
}

/** The image that a pull was begun for. Throws `invalid` for what is no such record. */
export function decodeIntent(text: string): string {
  return textIn(decode(text, 'ImagePullIntent'), 'image');
}

/** Throws `invalid` for what is no such record: an incomplete one must not grant access to an image. */
export function decodePulled(text: string): PulledRecord {
  const value = decode(text, 'ImagePulledRecord');
  const mapping = Object.entries(mappingIn(value['credentialMapping'] ?? {}, 'credentialMapping'));
  return {
    lastUpdatedTime: textIn(value, 'lastUpdatedTime'),
    imageRef: textIn(value, 'imageRef'),
    credentialMapping: Object.fromEntries(mapping.map(([image, entry]) => [image, decodeCredentials(entry)])),
  };
}

function decodeCredentials(value: unknown): PullCredentials {
  const { kubernetesSecrets: secrets, kubernetesServiceAccounts: accounts, ...rest } = mappingIn(value, 'an image');
  const { nodePodsAccessible } = rest;
  if (nodePodsAccessible !== undefined && typeof nodePodsAccessible !== 'boolean') throw wrong('nodePodsAccessible');
  return {
    ...(secrets !== undefined && {
      kubernetesSecrets: listIn(secrets, 'kubernetesSecrets').map((secret) => ({
        ...coordinatesIn(secret),
        credentialHash: textIn(mappingIn(secret, 'a secret'), 'credentialHash'),
      })),
    }),
    ...(accounts !== undefined && {
      kubernetesServiceAccounts: listIn(accounts, 'kubernetesServiceAccounts').map(coordinatesIn),
    }),
    ...(nodePodsAccessible === true && { nodePodsAccessible }),
  };
}

/** What a successful pull with a credential proves. */
export function shownBy(credential: Credential | undefined): PullCredentials {
  const source = credential?.source ?? { kind: 'node' };
  if (credential === undefined || source.kind === 'node') return { nodePodsAccessible: true };
  const { kind, uid, namespace, name } = source;
  if (kind === 'serviceAccount') return { kubernetesServiceAccounts: [{ uid, namespace, name }] };
  return { kubernetesSecrets: [{ uid, namespace, name, credentialHash: credential.hash.reveal() }] };
}

/** The record with what is newly known, or the very same record where nothing is. */
export function withCredentials(
  record: PulledRecord,
  repository: string,
  shown: PullCredentials,
  lastUpdatedTime: string,
): PulledRecord {
  const known = ownValue(record.credentialMapping, repository);
  const merged = known === undefined ? shown : merge(known, shown);
  if (merged === known) return record;
  return {
    ...record,
    lastUpdatedTime,
    credentialMapping: { ...record.credentialMapping, [repository]: merged },
  };
}

function merge(known: PullCredentials, shown: PullCredentials): PullCredentials {
  if (known.nodePodsAccessible === true) return known;
  if (shown.nodePodsAccessible === true) return { nodePodsAccessible: true };
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [] } = known;
  const secrets = mergeBy(kubernetesSecrets, shown.kubernetesSecrets ?? []);
  const accounts = mergeBy(kubernetesServiceAccounts, shown.kubernetesServiceAccounts ?? []);
  if (secrets === kubernetesSecrets && accounts === kubernetesServiceAccounts) return known;
  return {
    ...(secrets.length > 0 && { kubernetesSecrets: secrets }),
    ...(accounts.length > 0 && { kubernetesServiceAccounts: accounts }),
  };
}

/** One of each name, the newer one winning, in the order of their names. */
function mergeBy<T extends ObjectCoordinates>(known: readonly T[], shown: readonly T[]): readonly T[] {
  const byPlace = new Map(known.map((item) => [placeOf(item), item]));
  const news = shown.filter((item) => JSON.stringify(byPlace.get(placeOf(item))) !== JSON.stringify(item));
  if (news.length === 0) return known;
  for (const item of news) byPlace.set(placeOf(item), item);
  return [...byPlace].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, item]) => item);
}

function placeOf({ namespace, name, uid }: ObjectCoordinates): string {
  return [namespace, name, uid].join('\0');
}

function decode(text: string, kind: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TubeletError('invalid', 'a pull record is not valid JSON', { cause: error });
  }
  const record = mappingIn(value, kind);
  if (record['kind'] !== kind || !apiVersions.includes(textIn(record, 'apiVersion'))) throw wrong('kind or apiVersion');
  return record;
}

function coordinatesIn(value: unknown): ObjectCoordinates {
  const object = mappingIn(value, 'a reference');
  return { uid: textIn(object, 'uid'), namespace: textIn(object, 'namespace'), name: textIn(object, 'name') };
}

function textIn(value: Readonly<Record<string, unknown>>, field: string): string {
  const text = value[field];
  if (typeof text !== 'string') throw wrong(field);
  return text;
}

function mappingIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(what);
  return value as Readonly<Record<string, unknown>>;
}

function listIn(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(what);
  return value;
}

function wrong(what: string): TubeletError {
  return new TubeletError('invalid', `a pull record cannot be understood: ${what}`);
}
