import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createCertificate, createCsr } from './certificate.ts';
import { bitString, integer, objectId, sequence, time, tlv } from './der.ts';
import { createKey, keyToPem } from './keys.ts';
import { addressBytes } from './names.ts';

const openssl = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed';
const day = 86_400_000;
const now = Date.UTC(2025, 5, 1);

function ask(args: readonly string[], input: string): string {
  const { status, stdout, stderr } = spawnSync('openssl', [...args], { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return `${stdout}${stderr}`;
}

test('DER has the shortest form of everything', () => {
  const table: readonly (readonly [Buffer, string])[] = [
    [integer(0), '020100'],
    [integer(Buffer.from([0x80])), '02020080'],
    [integer(Buffer.from([0, 0, 1])), '020101'],
    [integer(Buffer.alloc(0)), '020100'],
    [objectId('2.5.4.10'), '060355040a'],
    [objectId('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    [bitString(Buffer.from([0x86]), 1), '03020186'],
    [sequence(), '3000'],
    [time(Date.UTC(2049, 11, 31, 23, 59, 59)), `170d${Buffer.from('491231235959Z').toString('hex')}`],
    [time(Date.UTC(2050, 0, 1)), `180f${Buffer.from('20500101000000Z').toString('hex')}`],
  ];
  for (const [bytes, hex] of table) assert.equal(bytes.toString('hex'), hex);
  assert.equal(tlv(4, Buffer.alloc(127)).subarray(0, 2).toString('hex'), '047f');
  assert.equal(tlv(4, Buffer.alloc(128)).subarray(0, 3).toString('hex'), '048180');
  assert.equal(tlv(4, Buffer.alloc(65_536)).subarray(0, 5).toString('hex'), '0483010000');
});

test('addresses of both families', () => {
  const table = [
    ['10.0.0.255', '0a0000ff'],
    ['::', '0'.repeat(32)],
    ['::1', `${'0'.repeat(31)}1`],
    ['fe80::1:2', 'fe800000000000000000000000010002'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['::ffff:10.1.2.3', '00000000000000000000ffff0a010203'],
    ['1::', '00010000000000000000000000000000'],
  ] as const;
  for (const [address, hex] of table) assert.equal(addressBytes(address).toString('hex'), hex, address);
  assert.throws(() => addressBytes('fe80::1%eth0'), { kind: 'invalid' });
  assert.throws(() => addressBytes('host'), { kind: 'invalid' });
});

async function authority() {
  const key = await createKey();
  const subject = { commonName: 'test-ca' };
  const certificate = createCertificate({
    subject,
    key,
    serial: '01',
    notBefore: now,
    notAfter: now + 365 * day,
    isAuthority: true,
  });
  return { key, subject, certificate };
}

test('a certificate signed by an authority has the requested contents', async () => {
  const ca = await authority();
  const key = await createKey();
  const text = createCertificate({
    subject: { commonName: 'system:node:a', organizations: ['system:nodes'] },
    key,
    serial: 'ff00aa',
    notBefore: now,
    notAfter: now + day,
    usages: ['serverAuth', 'clientAuth'],
    dnsNames: ['node-a', 'node-a.example'],
    ipAddresses: ['192.168.0.7', 'fd00::7'],
    issuer: ca,
  });
  const read = new X509Certificate(text);
  assert.equal(read.subject, 'O=system:nodes\nCN=system:node:a');
  assert.equal(read.issuer, 'CN=test-ca');
  assert.equal(read.serialNumber, 'FF00AA');
  assert.equal(
    read.subjectAltName,
    'DNS:node-a, DNS:node-a.example, IP Address:192.168.0.7, IP Address:FD00:0:0:0:0:0:0:7',
  );
  assert.equal(Date.parse(read.validFrom), now);
  assert.equal(Date.parse(read.validTo), now + day);
  assert.equal(read.ca, false);
  assert.ok(read.checkPrivateKey(key));
  const root = new X509Certificate(ca.certificate);
  assert.ok(root.ca);
  assert.ok(read.checkIssued(root) && read.verify(root.publicKey) && root.verify(root.publicKey));
  assert.match(keyToPem(key), /^-----BEGIN EC PRIVATE KEY-----\n/);
});

test('openssl accepts a request', { skip: openssl }, async () => {
  const key = await createKey();
  const csr = createCsr({
    key,
    subject: { commonName: 'system:node:ä*', organizations: ['system:nodes', 'more'] },
    dnsNames: ['node-a'],
    ipAddresses: ['10.0.0.1'],
  });
  const said = ask(['req', '-verify', '-text', '-noout', '-utf8', '-nameopt', 'utf8,sep_comma_plus'], csr);
  assert.match(said, /verify OK/i);
  assert.match(said, /Subject: O=more\+O=system:nodes,CN=system:node:ä\*/);
  assert.match(said, /DNS:node-a, IP Address:10\.0\.0\.1/);
  const plain = createCsr({ key, subject: { commonName: 'a', organizations: ['system:nodes'] } });
  assert.match(ask(['req', '-verify', '-text', '-noout'], plain), /verify OK/i);
});

test('openssl accepts an authority', { skip: openssl }, async () => {
  const said = ask(['x509', '-text', '-noout'], (await authority()).certificate);
  assert.match(said, /Version: 3/);
  assert.match(said, /X509v3 Key Usage: critical\s+Digital Signature, Certificate Sign, CRL Sign/);
  assert.match(said, /X509v3 Basic Constraints: critical\s+CA:TRUE/);
  assert.match(said, /X509v3 Authority Key Identifier/);
});
