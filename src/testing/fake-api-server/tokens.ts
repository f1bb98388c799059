import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { apiTime } from '../../model/api-time.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { mapAt, textAt, type Stored } from './json.ts';
import { kindOfResource } from './kinds.ts';
import type { FakeUser } from './new-objects.ts';
import { invalid, notFound, preconditionFailed, Refusal } from './refusal.ts';
import { keyOf, type ObjectStore } from './store.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';
const leastSeconds = 600;
const defaultSeconds = 3_600;
const pods = kindOfResource(apiResources.pods);

/** Tokens that say who somebody is: those a test hands out, and those of service accounts. */
export class FakeTokens {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #random: Random;
  readonly #users = new Map<string, { readonly user: FakeUser; readonly untilMs: number }>();

  constructor(clock: Pick<Clock, 'now'>, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  add(token: string, user: FakeUser, untilMs: number = Number.POSITIVE_INFINITY): void {
    this.#users.set(token, { user, untilMs });
  }

  revoke(token: string): void {
    this.#users.delete(token);
  }

  userOf(token: string): FakeUser | undefined {
    const known = this.#users.get(token);
    return known !== undefined && known.untilMs > this.#clock.now() ? known.user : undefined;
  }

  /** By the Authorization header; somebody whose token is not known is not let in. */
  authenticate(authorization: string | undefined, otherwise: FakeUser): FakeUser {
    if (authorization === undefined) return otherwise;
    const user = this.userOf(authorization.replace(/^Bearer /, ''));
    if (user === undefined) throw new Refusal(401, 'Unauthorized', { reason: 'Unauthorized' });
    return user;
  }

  /** A TokenRequest of a service account, answered. */
  request(account: Stored, request: JsonMap, store: ObjectStore): JsonMap {
    const spec = mapAt(request, 'spec');
    const seconds = Number(textAt(spec, 'expirationSeconds') || defaultSeconds);
    if (seconds < leastSeconds) {
      const message = `Invalid value: ${seconds}: may not specify a duration less than 10 minutes`;
      const fault = { field: 'spec.expirationSeconds', reason: 'FieldValueInvalid', message } as const;
      throw invalid('TokenRequest', 'authentication.k8s.io', '', fault);
    }
    const { namespace = '', name, uid } = account.metadata;
    const pod = boundPod(namespace, mapAt(spec, 'boundObjectRef'), store);
    const asked = spec['audiences'];
    const audiences = Array.isArray(asked) && asked.length > 0 ? (asked as readonly unknown[]) : [issuer];
    const now = Math.floor(this.#clock.now() / 1_000);
    const user = `system:serviceaccount:${namespace}:${name}`;
    const token = this.#sign({
      aud: audiences,
      exp: now + seconds,
      iat: now,
      iss: issuer,
      jti: this.#random.hex(16),
      'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...(pod !== undefined && { pod }) },
      nbf: now,
      sub: user,
    });
    const until = (now + seconds) * 1_000;
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
    this.add(token, { name: user, groups }, until);
    return {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace, uid, creationTimestamp: apiTime(this.#clock.now()) },
      spec: { ...spec, audiences, expirationSeconds: seconds },
      status: { token, expirationTimestamp: apiTime(until) },
    };
  }

  /** Looks like a signed token; nobody checks what it was signed with. */
  #sign(claims: JsonMap): string {
    const part = (value: JsonMap): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    return [part({ alg: 'ES256', kid: 'fake' }), part(claims), this.#random.hex(32)].join('.');
  }
}

function boundPod(namespace: string, ref: JsonMap, store: ObjectStore): JsonMap | undefined {
  if (textAt(ref, 'kind') !== 'Pod') return undefined;
  const name = textAt(ref, 'name');
  const pod = store.get(pods, keyOf(namespace, name));
  if (pod === undefined) throw notFound(pods, name);
  const uid = textAt(ref, 'uid');
  if (uid !== '' && uid !== pod.metadata.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record`;
    throw preconditionFailed(pods, name, `${why}. The object might have been deleted and then recreated`);
  }
  return { name, uid: pod.metadata.uid };
}
