import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createCertificate } from '../apiserver/x509/certificate.ts';
import { createKey } from '../apiserver/x509/keys.ts';
import { ApiError } from '../apiserver/api-error.ts';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { CertificateSigningRequest } from '../gen/kubernetes/types.ts';
import type { ApiClient, ApiObject, ObjectRef } from '../model/api-client.ts';
import type { ApiResource } from '../model/api-resources.ts';
import { readCsr } from './read-csr.ts';

/** A key at once: virtual time does not wait for other threads. */
export async function quickKey(): Promise<KeyObject> {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What the cluster does with requests for certificates: those that are there and those that come. */
type SigningMood =
  | 'sign'
  | 'ignore'
  | 'approveOnly'
  | 'deny'
  | 'fail'
  | 'otherKey'
  | 'otherName'
  | 'expired'
  | 'garbage';

/** An API server with an approver and a signer, for certificate signing requests only. */
export class SigningApi implements Pick<ApiClient, 'get' | 'create'> {
  readonly requests = new Map<string, Mutable<CertificateSigningRequest>>();
  mood: SigningMood = 'sign';
  /** The server does not answer. */
  away = false;
  /** It answers with this status instead. */
  refuse: number | undefined;
  /** The answer to the next creation is lost on its way. */
  loseAnswer = false;
  lifetimeMs = 86_400_000;
  /** How long before its issue a certificate begins. */
  backdateMs = 0;
  creations = 0;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #authority: KeyObject;
  readonly #otherKey: KeyObject;
  #serial = 1;

  private constructor(clock: Pick<Clock, 'now'>, authority: KeyObject, otherKey: KeyObject) {
    this.#clock = clock;
    this.#authority = authority;
    this.#otherKey = otherKey;
  }

  static async create(clock: Pick<Clock, 'now'>): Promise<SigningApi> {
    return new SigningApi(clock, await createKey(), await createKey());
  }

  async create<T extends ApiObject, R = T>(_: ApiResource, __: string | undefined, object: T): Promise<R> {
    this.#answers();
    const csr = object as unknown as CertificateSigningRequest;
    const name = csr.metadata?.name ?? '';
    if (this.requests.has(name)) throw refusal(409, 'alreadyExists', `${name} already exists`);
    this.creations++;
    this.requests.set(name, { ...csr });
    if (this.loseAnswer) {
      this.loseAnswer = false;
      throw new TubeletError('timeout', 'POST certificatesigningrequests: no answer within 60000 ms');
    }
    return csr as unknown as R;
  }

  async get<T extends ApiObject>(_: ApiResource, { name }: ObjectRef): Promise<T> {
    this.#answers();
    const csr = this.requests.get(name);
    if (csr === undefined) throw refusal(404, 'notFound', `${name} not found`);
    if (csr.status === undefined) this.#handle(csr);
    return csr as unknown as T;
  }

  #answers(): void {
    if (this.away) throw new TubeletError('unavailable', 'connect ECONNREFUSED');
    if (this.refuse !== undefined)
      throw refusal(this.refuse, 'denied', this.refuse === 401 ? 'Unauthorized' : 'forbidden');
  }

  #handle(csr: Mutable<CertificateSigningRequest>): void {
    const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved' };
    const denied = { type: 'Denied', status: 'True', reason: 'KubectlDeny', message: 'who are you?' };
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure' };
    const { mood } = this;
    if (mood === 'ignore') return;
    if (mood === 'approveOnly') csr.status = { conditions: [approved] };
    else if (mood === 'deny') csr.status = { conditions: [denied] };
    else if (mood === 'fail') csr.status = { conditions: [approved, failed] };
    else {
      const certificate = mood === 'garbage' ? 'no certificate' : this.#sign(csr);
      csr.status = { conditions: [approved], certificate: Buffer.from(certificate).toString('base64') };
    }
  }

  #sign({ spec }: CertificateSigningRequest): string {
    const asked = readCsr(Buffer.from(spec.request, 'base64').toString());
    const isClient = (spec.usages ?? []).includes('client auth');
    const now = this.#clock.now();
    return createCertificate({
      subject: {
        commonName: this.mood === 'otherName' ? 'system:node:another' : asked.commonName,
        organizations: asked.organizations,
      },
      key: this.mood === 'otherKey' ? this.#otherKey : asked.publicKey,
      serial: (this.#serial++).toString(16).padStart(4, '0'),
      notBefore: now - this.backdateMs,
      notAfter: this.mood === 'expired' ? now - 1_000 : now + this.lifetimeMs,
      usages: [isClient ? 'clientAuth' : 'serverAuth'],
      dnsNames: asked.dnsNames,
      ipAddresses: asked.ipAddresses,
      issuer: { subject: { commonName: 'test-ca' }, key: this.#authority },
    });
  }
}

function refusal(status: number, kind: 'alreadyExists' | 'notFound' | 'denied', words: string): ApiError {
  return new ApiError(kind, words, { status, remoteMessage: words });
}
