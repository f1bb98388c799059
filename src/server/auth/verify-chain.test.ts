import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  nameIds,
  newKey,
  oddCertificate,
  usageIds,
  type OddCertificateRequest,
} from '../../testing/odd-certificates.ts';
import { TlsAuthority } from '../../testing/tls-authority.ts';
import { parseCaBundle } from './ca-bundle.ts';
import { verifyChain } from './verify-chain.ts';

const day = 86_400_000;
const now = Date.UTC(2025, 5, 1);
const times = { notBefore: now - day, notAfter: now + day };
const named = (cn: string) => [[[nameIds.cn, cn]]] as const;

const root = oddCertificate({ ...times, subject: named('root'), authority: true });
const client = (request: Partial<OddCertificateRequest> = {}) =>
  oddCertificate({ ...times, subject: named('ann'), issuer: root, usages: [usageIds.clientAuth], ...request });
const authority = (cn: string, request: Partial<OddCertificateRequest> = {}) =>
  oddCertificate({ ...times, subject: named(cn), issuer: root, authority: true, ...request });
const anchorsOf = (...certificates: readonly { readonly pem: string }[]) =>
  parseCaBundle(certificates.map(({ pem }) => pem).join('')).anchors;
const anchors = anchorsOf(root);

function reasonOf(chain: readonly { readonly der: Buffer }[], roots = anchors, at = now): string {
  const verdict = verifyChain(
    chain.map(({ der }) => der),
    roots,
    at,
  );
  return verdict.trusted ? `trusted ${verdict.subject.commonName}` : verdict.reason;
}

test('a leaf by itself', () => {
  const unknown = oddCertificate({ ...times, subject: named('root'), authority: true });
  const table: readonly (readonly [string, ReturnType<typeof client>, RegExp])[] = [
    ['for clients', client(), /^trusted ann$/],
    ['for everything', client({ usages: [usageIds.any] }), /^trusted ann$/],
    ['for both', client({ usages: [usageIds.serverAuth, usageIds.clientAuth] }), /^trusted ann$/],
    ['for servers', client({ usages: [usageIds.serverAuth] }), /not for clients/],
    ['without usages', oddCertificate({ ...times, subject: named('ann'), issuer: root }), /^trusted ann$/],
    ['with a key that does not sign', client({ keyUsage: 0x20 }), /^trusted ann$/],
    ['expired', client({ notAfter: now - 1_000 }), /was valid until/],
    ['not valid yet', client({ notBefore: now + 1_000 }), /not valid before/],
    ['valid to this second', client({ notBefore: now, notAfter: now }), /^trusted ann$/],
    [
      'of another authority of the same name',
      client({ issuer: unknown }),
      /signature of .*"ann" is not that of .*"root"/,
    ],
    ['with a forged signature', client({ forgedWith: newKey() }), /is not that of/],
    ['with SHA-1', client({ hash: 'sha1' }), /unsafe/],
    ['of an unknown authority', client({ issuer: authority('elsewhere') }), /not issued by any/],
    ['with a demand that is not known', client({ critical: ['1.2.3.4'] }), /not understood here: 1\.2\.3\.4/],
    ['an authority that is a client too', authority('ca', { usages: [usageIds.clientAuth] }), /^trusted ca$/],
  ];
  for (const [what, leaf, wanted] of table) assert.match(reasonOf([leaf]), wanted, what);
});

test('where the TLS library is stricter', () => {
  const anything = authority('anything', { usages: [usageIds.any] });
  const purpose = ['INVALID_PURPOSE'];
  const table: readonly (readonly [string, readonly ReturnType<typeof client>[], readonly string[]])[] = [
    ['for clients', [client()], []],
    ['without usages', [oddCertificate({ ...times, subject: named('ann'), issuer: root })], []],
    ['for everything', [client({ usages: [usageIds.any] })], purpose],
    ['for everything and clients', [client({ usages: [usageIds.any, usageIds.clientAuth] })], []],
    ['with a key that signs', [client({ keyUsage: 0xa0 })], []],
    ['with a key that does not', [client({ keyUsage: 0x20 })], purpose],
    ['below an authority for everything', [client({ issuer: anything }), anything], purpose],
  ];
  for (const [what, chain, wanted] of table) {
    const verdict = verifyChain(
      chain.map(({ der }) => der),
      anchors,
      now,
    );
    assert.deepEqual(verdict.trusted && verdict.tlsObjections, wanted, what);
  }
  const below = (leaf: ReturnType<typeof client>, anchor: ReturnType<typeof client>): unknown => {
    const verdict = verifyChain([leaf.der], anchorsOf(anchor), now);
    return verdict.trusted && verdict.tlsObjections;
  };
  const middle = authority('middle');
  assert.deepEqual(below(client({ issuer: middle }), middle), ['UNABLE_TO_GET_ISSUER_CERT']);
  const leaf = client();
  assert.ok((below(leaf, leaf) as readonly string[]).includes('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
});

test('authorities in between', () => {
  const middle = authority('middle');
  const lower = authority('lower', { issuer: middle });
  const leaf = client({ issuer: lower });
  assert.equal(reasonOf([leaf, lower, middle]), 'trusted ann');
  assert.equal(reasonOf([leaf, middle, lower]), 'trusted ann', 'in any order');
  assert.equal(reasonOf([leaf, lower, middle, root]), 'trusted ann', 'with the root too');
  assert.match(reasonOf([leaf, lower]), /not issued by any/);
  assert.equal(reasonOf([leaf], anchorsOf(lower)), 'trusted ann', 'an authority of the file need not be a root');
  assert.equal(reasonOf([leaf], anchorsOf(leaf)), 'trusted ann', 'nor an authority');

  const table: readonly (readonly [string, Partial<OddCertificateRequest>, RegExp])[] = [
    ['no authority', { authority: false }, /not issued by any/],
    ['expired', { notAfter: now - 1_000 }, /"middle" was valid until/],
    ['for servers only', { usages: [usageIds.serverAuth] }, /does not issue certificates for clients/],
    ['for clients too', { usages: [usageIds.clientAuth] }, /^trusted ann$/],
    ['forged', { forgedWith: newKey() }, /"middle" is not that of .*"root"/],
    ['with name constraints', { critical: ['2.5.29.30'] }, /not understood here: 2\.5\.29\.30/],
    ['with no authority below it', { authority: 0 }, /^trusted ann$/],
  ];
  for (const [what, request, wanted] of table) {
    const between = authority('middle', request);
    assert.match(reasonOf([client({ issuer: between }), between]), wanted, what);
  }
});

test('an anchor that is no authority has issued nothing', () => {
  const plain = oddCertificate({ ...times, subject: named('plain') });
  assert.match(reasonOf([client({ issuer: plain })], anchorsOf(plain)), /"plain" is no certificate authority/);
});

test('an authority limits how many may stand below it', () => {
  const narrow = oddCertificate({ ...times, subject: named('narrow'), authority: 0 });
  const below = authority('below', { issuer: narrow });
  assert.equal(reasonOf([client({ issuer: narrow })], anchorsOf(narrow)), 'trusted ann');
  assert.match(reasonOf([client({ issuer: below }), below], anchorsOf(narrow)), /no more than 0 authorities/);
  const wider = oddCertificate({ ...times, subject: named('wider'), authority: 1 });
  const one = authority('one', { issuer: wider });
  assert.equal(reasonOf([client({ issuer: one }), one], anchorsOf(wider)), 'trusted ann');
});

test('an authority that was renewed under its name: the one whose key fits counts', () => {
  const renewed = oddCertificate({ ...times, subject: named('root'), authority: true });
  assert.equal(reasonOf([client({ issuer: renewed })], anchorsOf(root, renewed)), 'trusted ann');
  const expired = oddCertificate({ ...times, subject: named('root'), authority: true, notAfter: now - 1 });
  assert.match(reasonOf([client({ issuer: expired })], anchorsOf(expired)), /"root" was valid until/);
});

test('many certificates that claim to have issued each other take little time', () => {
  const same = Array.from({ length: 30 }, () => oddCertificate({ ...times, subject: named('x'), authority: true }));
  const [first = root] = same;
  const leaf = client({ issuer: first });
  assert.match(reasonOf([leaf, ...same]), /not issued by any/);
  const roots = anchorsOf(
    ...Array.from({ length: 40 }, () => oddCertificate({ ...times, subject: named('x'), authority: true })),
  );
  assert.match(reasonOf([leaf], roots), /too many ways/);
});

test('a chain is not followed for ever', () => {
  let top = root;
  const chain = Array.from({ length: 9 }, (_, index) => (top = authority(`ca-${index}`, { issuer: top })));
  const leafAt = (depth: number) => client({ issuer: chain[depth] ?? root });
  assert.equal(reasonOf([leafAt(7), ...chain.slice(0, 8)]), 'trusted ann');
  assert.match(reasonOf([leafAt(8), ...chain.slice(0, 9)]), /not issued by any/);
});

test('what is no certificate is refused, and no chain is no certificate', () => {
  assert.match(reasonOf([]), /no certificate/);
  assert.match(reasonOf([{ der: Buffer.alloc(0) }]), /./);
  assert.match(reasonOf([{ der: Buffer.from('hello') }]), /./);
  assert.match(reasonOf([{ der: client().der.subarray(0, 100) }]), /./);
  const { der } = client();
  for (let at = 0; at < der.length; at += 3) {
    const broken = Buffer.from(der);
    broken.writeUInt8((broken.readUInt8(at) + 1) & 0xff, at);
    assert.ok(!reasonOf([{ der: broken }]).startsWith('trusted'), `byte ${at}`);
  }
});

test('certificates as the agent itself makes them', async () => {
  const issuer = await TlsAuthority.create();
  const roots = parseCaBundle(issuer.certificate).anchors;
  const derOf = (pem: string) => ({ der: Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64') });
  const good = await issuer.client('system:node:n1', ['system:nodes']);
  assert.equal(reasonOf([derOf(good.certificate)], roots, Date.now()), 'trusted system:node:n1');
  const server = await issuer.server();
  assert.match(reasonOf([derOf(server.certificate)], roots, Date.now()), /not for clients/);
});
