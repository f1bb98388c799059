import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { MemoryCertificateFiles } from '../../testing/memory-certificate-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { TlsAuthority } from '../../testing/tls-authority.ts';
import { readPair, type CertificatePair } from './certificate-pair.ts';
import { CertificateStore, fileTime } from './certificate-store.ts';
import { hostCertificateFiles } from './host-certificate-files.ts';

const noon = new Date(2025, 5, 1, 12, 0, 0).getTime();

async function issue(name = 'system:node:a'): Promise<CertificatePair> {
  const { certificate, key } = await (await TlsAuthority.create()).client(name, ['system:nodes']);
  return readPair(certificate, key);
}

async function realStore(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'tubelet-store-'));
  context.after(() => rm(folder, { recursive: true }));
  const log = new MemoryLog();
  const files = hostCertificateFiles(seededRandom(1));
  return { folder, log, files, store: new CertificateStore({ files, log, folder, purpose: 'client' }) };
}

test('a stored pair has the path of the Go kubelet, and is readable by its owner only', async (context) => {
  const { folder, store } = await realStore(context);
  assert.equal(await store.read(), undefined);
  const pair = await issue();
  await store.write(pair, noon);
  const file = join(folder, 'kubelet-client-2025-06-01-12-00-00.pem');
  assert.equal(await readlink(join(folder, 'kubelet-client-current.pem')), file);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const text = await readFile(file, 'utf8');
  assert.match(text, /^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----/);
  const read = await store.read();
  assert.equal(read?.fingerprint, pair.fingerprint);
  assert.equal(read?.commonName, 'system:node:a');
  assert.equal(read?.key.reveal(), pair.key.reveal());

  const next = await issue();
  await store.write(next, noon + 1_000);
  assert.equal((await store.read())?.fingerprint, next.fingerprint);
  assert.deepEqual((await readdir(folder)).toSorted(), [
    'kubelet-client-2025-06-01-12-00-00.pem',
    'kubelet-client-2025-06-01-12-00-01.pem',
    'kubelet-client-current.pem',
  ]);
});

test('a chain stays with its certificate', async () => {
  const authority = await TlsAuthority.create();
  const { certificate, key } = await authority.client('a');
  const pair = readPair(`${certificate}${authority.certificate}`, key);
  assert.equal(pair.certificate.match(/BEGIN CERTIFICATE/g)?.length, 2);
  assert.equal(pair.commonName, 'a');
});

test('what is not a pair is reported, without its content', async () => {
  const [one, other] = await Promise.all([issue(), issue()]);
  const key = one.key.reveal();
  const table: readonly (readonly [certificate: string, key: string, what: RegExp])[] = [
    ['', key, /no certificate/],
    [one.certificate, '', /no private key/],
    [one.certificate, other.key.reveal(), /do not belong together/],
    [one.certificate, key.slice(0, 80), /no private key/],
    [one.certificate.slice(0, -40), key, /no certificate/],
    [one.certificate.replace(/\n[^\n]+\n-----END/, '\n-----END'), key, /certificate is damaged/],
    [one.certificate, key.replace(/\n[^\n]+\n-----END/, '\n-----END'), /key is damaged/],
  ];
  for (const [certificate, keyText, what] of table) {
    assert.throws(
      () => readPair(certificate, keyText),
      (error: Error) => {
        assert.match(error.message, what);
        assert.doesNotMatch(error.message, /[A-Za-z0-9+/]{30}/);
        return true;
      },
    );
  }
});

test('a damaged file is put aside with a word about it, however it was cut', async (context) => {
  const { folder, store, log } = await realStore(context);
  const pair = await issue();
  await store.write(pair, noon);
  const file = join(folder, 'kubelet-client-2025-06-01-12-00-00.pem');
  const whole = await readFile(file, 'utf8');
  for (const end of [0, 20, pair.certificate.length - 5, pair.certificate.length, whole.length - 20]) {
    log.clear();
    await writeFile(file, whole.slice(0, end));
    assert.equal(await store.read(), undefined, `cut at ${end}`);
    assert.equal(await readFile(`${file}.damaged`, 'utf8'), whole.slice(0, end));
    assert.equal(log.messages('warn').length, 1);
    assert.equal(log.entries[0]?.fields['aside'], `${file}.damaged`);
    // The link is dangling now, which is not an error.
    assert.equal(await store.read(), undefined);
  }
  await store.write(pair, noon);
  assert.equal((await store.read())?.fingerprint, pair.fingerprint);
});

test('a crash within a write leaves the old pair or the new one', async () => {
  const [before, next] = [await issue(), await issue()];
  for (const changes of [0, 1, 2]) {
    const files = new MemoryCertificateFiles();
    const store = new CertificateStore({ files, log: new MemoryLog(), folder: '/pki', purpose: 'client' });
    await store.write(before, noon);
    files.changesLeft = changes;
    const writing = store.write(next, noon + 60_000);
    if (changes < 2) await assert.rejects(writing, /the power has gone/);
    else await writing;
    assert.equal((await store.read())?.fingerprint, (changes < 2 ? before : next).fingerprint);
  }
});

test('a failed replacement leaves nothing behind', async (context) => {
  const { folder, files } = await realStore(context);
  await symlink(folder, join(folder, 'folder'));
  await assert.rejects(files.replace(join(folder, 'absent', 'x'), 'text', 0o600), { kind: 'notFound' });
  await assert.rejects(files.readText(join(folder, 'nothing')), { kind: 'notFound' });
  await files.remove(join(folder, 'nothing'));
  assert.deepEqual(await readdir(folder), ['folder']);
});

test('names sort by time', () => {
  const times = [new Date(2025, 0, 2, 3, 4, 5), new Date(2025, 9, 10, 11, 12, 13)].map((date) =>
    fileTime(date.getTime()),
  );
  assert.deepEqual(times, ['2025-01-02-03-04-05', '2025-10-10-11-12-13']);
});
