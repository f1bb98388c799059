import { keyToPem } from '../../src/apiserver/x509/keys.ts';
import type { JsonMap } from '../../src/model/patch-schema.ts';
import type { FakeApiServer, SeenRequest } from '../../src/testing/fake-api-server/index.ts';
import {
  nameIds,
  newKey,
  oddCertificate,
  usageIds,
  type OddCertificate,
  type OddCertificateRequest,
} from '../../src/testing/odd-certificates.ts';
import type { Dice } from '../simulation/dice.ts';

/** Stands in every credential; no answer, no line of the log and no request to the runtime may have it. */
export const credentialMark = 'sw0rdf1sh';

/** What a caller can get at most; `nobody` gets nothing but refusals on the secured port. */
export type Entry = 'admin' | 'reader' | 'nobody';

const tokens = {
  admin: `adm.${credentialMark}.1`,
  reader: `rdr.${credentialMark}.2`,
  /** Its rights cannot be found out. */
  broken: `brk.${credentialMark}.3`,
  /** The API server does not answer who it is. */
  hanging: `hng.${credentialMark}.4`,
  /** The API server answers with an error. */
  failing: `fai.${credentialMark}.5`,
  unknown: `unk.${credentialMark}.6`,
} as const;
export type TokenName = keyof typeof tokens;

const entries: Readonly<Record<string, Entry>> = { admin: 'admin', reader: 'reader' };
const readable: ReadonlySet<unknown> = new Set(['metrics', 'stats', 'healthz', 'pods', 'configz']);

export const tokenNames = Object.keys(tokens) as TokenName[];
const tokenOf = (name: TokenName): string => tokens[name];
export const entryOf = (name: string | undefined): Entry => entries[name ?? ''] ?? 'nobody';
export const higher = (one: Entry, other: Entry): Entry =>
  one === 'admin' || other === 'admin' ? 'admin' : one === 'reader' ? one : other;

/** What an API server would say about rights. */
export function allows(spec: JsonMap): boolean {
  const { verb, subresource } = spec['resourceAttributes'] as JsonMap;
  if (spec['user'] === 'broken') throw new Error('the rights of this user cannot be found out');
  return spec['user'] === 'admin' || (spec['user'] === 'reader' && verb === 'get' && readable.has(subresource));
}

export function hireCallers(api: FakeApiServer): void {
  for (const name of ['admin', 'reader', 'broken'] as const) api.tokens.add(tokens[name], { name, groups: [] });
  const reviews =
    (token: string) =>
    ({ resource, body }: SeenRequest): boolean =>
      resource === 'tokenreviews' && (body as { spec?: { token?: string } } | undefined)?.spec?.token === token;
  api.faults.hang({ when: reviews(tokens.hanging) });
  api.faults.refuse(500, { when: reviews(tokens.failing) });
}

/** A header that says who asks, in all the ways one can get it wrong. */
export function authorizationHeader(dice: Dice, name: TokenName): string {
  const token = tokenOf(name);
  return dice.chance(0.7)
    ? `Bearer ${token}`
    : dice.pick([
        `bearer  ${token}`,
        `BEARER\t${token}`,
        `Bearer ${token} ${token}`,
        `Basic ${Buffer.from(`admin:${token}`).toString('base64')}`,
        `Digest username="${token}"`,
        token,
        `Bearer ${token}\u00e9\u00ff`,
        `Bearer ${token}${'x'.repeat(dice.whole(1, 70_000))}`,
        `Bearer ${'\t'.repeat(dice.whole(1, 50))}${token}`,
        `Bearer ${token},Bearer ${tokenOf('admin')}`,
        'Bearer',
        `Negotiate ${token}==`,
      ]);
}

/** The token as browsers send it with a WebSocket. */
export function protocolHeader(dice: Dice, name: TokenName): string {
  const encoded = Buffer.from(tokenOf(name)).toString('base64url');
  const prefix = 'base64url.bearer.authorization.k8s.io.';
  return dice.pick([
    `${prefix}${encoded}, v4.channel.k8s.io`,
    `v5.channel.k8s.io,${prefix}${encoded}`,
    `${prefix}${encoded}`,
    `${prefix}${encoded}, ${prefix}${encoded}, v4.channel.k8s.io`,
    `${prefix}${encoded}=`,
    `${prefix}, v4.channel.k8s.io`,
    `${prefix}_____, v4.channel.k8s.io`,
  ]);
}

/** The mark as it looks in the header above: any of three alignments. */
export const encodedMarks: readonly string[] = ['', 'a', 'ab'].map((before) => {
  const encoded = Buffer.from(`${before}${credentialMark}`).toString('base64url');
  return encoded.slice(before.length === 0 ? 0 : before.length + 1, -2);
});

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

const day = 86_400_000;

/** Certificates that clients come with, good and bad; `authority` is the one the agent trusts. */
export function makeCertificates(now: number): {
  readonly authority: string;
  readonly clients: ReadonlyMap<string, ClientCertificate>;
} {
  const valid = { notBefore: now - day, notAfter: now + 30 * day };
  const authority = oddCertificate({ ...valid, subject: [[[nameIds.cn, 'ca']]], authority: true });
  const stranger = oddCertificate({ ...valid, subject: [[[nameIds.cn, 'ca']]], authority: true });
  const client = (name: string, more: Partial<OddCertificateRequest> = {}): OddCertificate =>
    oddCertificate({
      ...valid,
      subject: [[[nameIds.cn, name]]],
      issuer: authority,
      usages: [usageIds.clientAuth],
      ...more,
    });
  const made: Readonly<Record<string, OddCertificate>> = {
    admin: client('admin'),
    reader: client('reader'),
    broken: client('broken'),
    stranger: client('admin', { issuer: stranger }),
    expired: client('admin', { notBefore: now - 2 * day, notAfter: now - day }),
    early: client('admin', { notBefore: now + 20 * day }),
    server: client('admin', { usages: [usageIds.serverAuth] }),
    forged: client('admin', { forgedWith: newKey() }),
    critical: client('admin', { critical: ['1.2.3.4.5'] }),
    nameless: client('', { subject: [] }),
    odd: client('admin\r\nx-injected: 1\0\u202e"\\'),
    long: client('a'.repeat(10_000)),
    alone: oddCertificate({ ...valid, subject: [[[nameIds.cn, 'admin']]] }),
  };
  const clients = Object.entries(made).map(
    ([name, { pem, key }]) => [name, { cert: pem, key: keyToPem(key) }] as const,
  );
  return { authority: authority.pem, clients: new Map(clients) };
}
