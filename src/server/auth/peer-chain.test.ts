import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { nameIds, oddCertificate, usageIds } from '../../testing/odd-certificates.ts';
import { TlsAuthority } from '../../testing/tls-authority.ts';
import { parseCaBundle } from './ca-bundle.ts';
import { chainOf, chainOfPeer } from './peer-chain.ts';
import { verifyChain } from './verify-chain.ts';

const day = 86_400_000;
const times = { notBefore: Date.now() - day, notAfter: Date.now() + day };
const named = (cn: string) => [[[nameIds.cn, cn]]] as const;
const root = oddCertificate({ ...times, subject: named('root'), authority: true });
const middle = oddCertificate({ ...times, subject: named('middle'), issuer: root, authority: true });
const leaf = oddCertificate({ ...times, subject: named('ann'), issuer: middle, usages: [usageIds.clientAuth] });

/** Releases of Node.js that lose the certificates a client shows behind its own (nodejs/node#65579); who has one is refused. */
const losesChain =
  ['v24.21.0'].includes(process.version) && `Node.js ${process.version} loses intermediate certificates`;

test('what a client shows on a connection is what is verified', { skip: losesChain }, async (t) => {
  const serving = await (await TlsAuthority.create()).server();
  const server = createServer({
    cert: serving.certificate,
    key: serving.key,
    ca: root.pem,
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;

  const chainFrom = async (shown: { readonly cert?: string; readonly key?: string }): Promise<readonly Buffer[]> => {
    const accepted = once(server, 'secureConnection');
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...shown });
    const [peer] = (await accepted) as [TLSSocket];
    const chain = chainOf({ certificate: peer.getPeerCertificate(true) });
    peer.destroy();
    socket.destroy();
    return chain;
  };
  const key = leaf.key.export({ type: 'pkcs8', format: 'pem' }) as string;
  const { anchors } = parseCaBundle(root.pem);
  const whole = await chainFrom({ cert: leaf.pem + middle.pem, key });
  assert.ok(whole[0]?.equals(leaf.der) && whole[1]?.equals(middle.der));
  assert.equal(verifyChain(whole, anchors, Date.now()).trusted, true);
  const part = await chainFrom({ cert: leaf.pem, key });
  assert.deepEqual(part, [leaf.der]);
  assert.equal(verifyChain(part, anchors, Date.now()).trusted, false);
  assert.deepEqual(await chainFrom({}), []);
});

test('certificates that lead in circles end', () => {
  const one = { raw: Buffer.from('1') };
  const two = { raw: Buffer.from('2'), issuerCertificate: one };
  Object.assign(one, { issuerCertificate: two });
  assert.deepEqual(chainOfPeer(two as never), [two.raw, one.raw]);
  assert.deepEqual(chainOfPeer({}), []);
  assert.deepEqual(chainOfPeer(undefined), []);
  assert.deepEqual(chainOf({ chain: [one.raw] }), [one.raw]);
});
