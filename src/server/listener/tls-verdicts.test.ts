import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { keyToPem } from '../../apiserver/x509/keys.ts';
import { askHttp2, aRoute, hello, ServerWorld } from '../../testing/server-world.ts';
import {
  nameIds,
  newKey,
  oddCertificate,
  usageIds,
  type OddCertificate,
  type OddCertificateRequest,
} from '../../testing/odd-certificates.ts';
import type { Credentials } from '../auth/ports.ts';

const worlds: ServerWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

const day = 86_400_000;
const now = Date.now();
const times = { notBefore: now - day, notAfter: now + day };
const named = (cn: string) => [[[nameIds.cn, cn]]] as const;
const root = oddCertificate({ ...times, subject: named('root'), authority: true });
const client = (request: Partial<OddCertificateRequest> = {}): OddCertificate =>
  oddCertificate({ ...times, subject: named('ann'), issuer: root, usages: [usageIds.clientAuth], ...request });

async function open(pem: string) {
  const seen: Credentials[] = [];
  const world = await ServerWorld.open({
    routes: [aRoute(hello)],
    listeners: ['secure'],
    authenticate: async (credentials) => {
      seen.push(credentials);
      return undefined;
    },
  });
  worlds.push(world);
  world.clientPem.replace(pem);
  const verdictOn = async (...chain: readonly OddCertificate[]): Promise<string | undefined> => {
    const [leaf] = chain as [OddCertificate];
    const certificate = chain.map((one) => one.pem).join('');
    const answer = await world.ask('secure', '/hello', { client: { certificate, key: keyToPem(leaf.key) } });
    assert.deepEqual([answer.status, answer.headers.connection], [401, 'close'], 'judged anew on a new connection');
    return seen.at(-1)?.tlsVerdict;
  };
  return { world, seen, verdictOn };
}

// Where the library is stricter than a Go kubelet, `auth/verify-chain.ts` knows by which codes it says so.
test('what the TLS library finds of certificates, and where it differs from upstream', async () => {
  const { verdictOn } = await open(root.pem);
  const middle = oddCertificate({ ...times, subject: named('middle'), issuer: root, authority: true });
  const table: readonly (readonly [string, readonly OddCertificate[], string])[] = [
    ['for clients', [client()], 'ok'],
    ['without usages', [oddCertificate({ ...times, subject: named('ann'), issuer: root })], 'ok'],
    ['for everything', [client({ usages: [usageIds.any] })], 'INVALID_PURPOSE'],
    ['with a key that does not sign', [client({ keyUsage: 0x20 })], 'INVALID_PURPOSE'],
    ['for servers', [client({ usages: [usageIds.serverAuth] })], 'INVALID_PURPOSE'],
    ['with an authority in between', [client({ issuer: middle }), middle], 'ok'],
    ['expired', [client({ notAfter: now - 1_000 })], 'CERT_HAS_EXPIRED'],
    ['forged', [client({ forgedWith: newKey() })], 'CERT_SIGNATURE_FAILURE'],
  ];
  for (const [what, chain, wanted] of table) assert.equal(await verdictOn(...chain), wanted, what);
  const unknown = oddCertificate({ ...times, subject: named('unknown'), authority: true });
  assert.notEqual(await verdictOn(client({ issuer: unknown })), 'ok');
});

test('what it says of an authority that is no root, also after the file has changed', async () => {
  const middle = oddCertificate({ ...times, subject: named('middle'), issuer: root, authority: true });
  const { world, verdictOn } = await open(middle.pem);
  const leaf = client({ issuer: middle });
  assert.equal(await verdictOn(leaf), 'UNABLE_TO_GET_ISSUER_CERT');
  world.clientPem.replace(root.pem);
  assert.equal(await verdictOn(leaf), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  assert.equal(await verdictOn(leaf, middle), 'ok');
  world.clientPem.replace(middle.pem);
  assert.equal(await verdictOn(leaf), 'UNABLE_TO_GET_ISSUER_CERT');
  assert.equal(await verdictOn(client()), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  const forged = client({ issuer: middle, forgedWith: newKey() });
  assert.equal(await verdictOn(forged), 'CERT_SIGNATURE_FAILURE', 'the last error is what counts');
  world.clientPem.replace(leaf.pem);
  assert.equal(await verdictOn(leaf), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
});

test('who is refused with a certificate connects anew over HTTP/2 too; who showed none keeps the connection', async () => {
  const { world } = await open(root.pem);
  const leaf = client();
  const session = world.http2({ cert: leaf.pem, key: keyToPem(leaf.key) });
  assert.equal((await askHttp2(session, '/hello')).status, 401);
  if (!session.closed) await new Promise<void>((resolve) => void session.once('close', () => resolve()));
  const other = world.http2();
  for (let n = 0; n < 3; n++) assert.equal((await askHttp2(other, '/hello')).status, 401);
  assert.equal(other.closed, false);
  other.close();
});
