import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryCertificateFiles } from '../../testing/memory-certificate-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { quickKey, SigningApi } from '../../testing/signing-api.ts';
import { TlsAuthority } from '../../testing/tls-authority.ts';
import { servingCertificates, type ServingOptions } from './serving-certificates.ts';

const day = 86_400_000;
const signal = new AbortController().signal;

function setUp(change: Partial<ServingOptions> = {}) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const files = new MemoryCertificateFiles();
  const options: ServingOptions = {
    tlsCertFile: '',
    tlsPrivateKeyFile: '',
    certDir: '/pki',
    serverTlsBootstrap: false,
    reloadFiles: true,
    nodeName: 'worker-1',
    hostName: 'worker-1',
    ...change,
  };
  const make = (cluster?: Parameters<typeof servingCertificates>[1]['cluster']) =>
    servingCertificates(options, {
      heartbeats: new Heartbeats(),
      clock,
      random: seededRandom(5),
      log,
      metrics: new Registry(),
      files,
      watched: files,
      newKey: quickKey,
      cluster,
    });
  return { clock, log, files, make };
}

test('without anything else the agent signs for itself, once', async () => {
  const { clock, files, make, log } = setUp();
  const first = make();
  await first.start(signal);
  await first.stop();
  const { certificate = '', key } = first.current() ?? {};
  assert.equal(await files.readText('/pki/kubelet.crt'), certificate);
  assert.equal(await files.readText('/pki/kubelet.key'), key?.reveal());
  assert.deepEqual(
    [files.files.get('/pki/kubelet.crt')?.mode, files.files.get('/pki/kubelet.key')?.mode],
    [0o644, 0o600],
  );
  const [leaf, root] = (certificate.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
    (text) => new X509Certificate(text),
  );
  assert.ok(leaf !== undefined && root !== undefined);
  assert.ok(root.ca && !leaf.ca && leaf.checkIssued(root) && leaf.verify(root.publicKey));
  assert.equal(leaf.checkHost('worker-1'), 'worker-1');
  assert.match(leaf.subject, /^CN=worker-1@\d+$/);
  assert.match(root.subject, /^CN=worker-1-ca@\d+$/);
  assert.equal(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom), 365 * day);
  assert.ok(Date.parse(leaf.validFrom) < clock.now());

  const changes = files.changes.length;
  await clock.advance(400 * day);
  const second = make();
  await second.start(signal);
  await second.stop();
  assert.equal(second.current()?.certificate, certificate, 'even expired, a client may trust exactly that one');
  assert.equal(files.changes.length, changes);
  assert.ok(log.messages('warn').some((message) => message.includes('expired')));
});

test('a pair of our own that cannot be read is made anew', async () => {
  const { files, make, log } = setUp({ hostName: '10.0.0.7' });
  for (const damage of [
    () => files.files.delete('/pki/kubelet.key'),
    () => files.files.delete('/pki/kubelet.crt'),
    () => files.put('/pki/kubelet.key', 'nonsense'),
    () => files.put('/pki/kubelet.crt', ''),
  ]) {
    const before = make();
    await before.start(signal);
    await before.stop();
    damage();
    const after = make();
    await after.start(signal);
    await after.stop();
    assert.notEqual(after.current()?.version, before.current()?.version);
    assert.equal(new X509Certificate(after.current()?.certificate ?? '').checkIP('10.0.0.7'), '10.0.0.7');
  }
  assert.equal(log.messages('warn').length, 2);
  assert.ok(files.files.has('/pki/kubelet.key.damaged'));
});

test('a crash between key and certificate is mended by the next start', async () => {
  for (const left of [0, 1]) {
    const { files, make } = setUp();
    files.changesLeft = left;
    await assert.rejects(make().start(signal), /the power has gone/);
    files.changesLeft = Number.POSITIVE_INFINITY;
    const serving = make();
    await serving.start(signal);
    assert.ok(serving.current() !== undefined);
    await serving.stop();
  }
});

test('files that were given are used, and read again when they change', async () => {
  const { clock, files, make, log } = setUp({ tlsCertFile: '/tls/a.crt', tlsPrivateKeyFile: '/tls/a.key' });
  await assert.rejects(make().start(signal), /\/tls\/a\.crt with key \/tls\/a\.key cannot be used/);
  const authority = await TlsAuthority.create();
  const [one, two] = [await authority.server(), await authority.server()];
  files.put('/tls/a.crt', one.certificate);
  files.put('/tls/a.key', one.key);
  const serving = make();
  const seen: string[] = [];
  const quiet = serving.onChange(({ certificate }) => seen.push(certificate));
  serving.onChange(() => {
    throw new Error('a listener that fails');
  });
  await serving.start(signal);
  assert.equal(serving.current()?.certificate, one.certificate);

  // Half of a replacement is not a pair, and is logged once.
  files.put('/tls/a.crt', two.certificate);
  await clock.advance(60_000);
  assert.equal(serving.current()?.certificate, one.certificate);
  assert.equal(log.messages('error').filter((message) => message.includes('stays in use')).length, 1);
  files.put('/tls/a.key', two.key);
  await clock.advance(10_000);
  assert.equal(serving.current()?.certificate, two.certificate);
  assert.deepEqual(seen, [one.certificate, two.certificate]);
  quiet();
  files.files.clear();
  await clock.advance(60_000);
  assert.equal(serving.current()?.certificate, two.certificate);
  await serving.stop();
  assert.equal(clock.pending(), 0);
  assert.deepEqual(files.changes, []);
});

test('files are read once where reloading is switched off', async () => {
  const { clock, files, make } = setUp({ tlsCertFile: '/a', tlsPrivateKeyFile: '/b', reloadFiles: false });
  const { certificate, key } = await (await TlsAuthority.create()).server();
  files.put('/a', certificate);
  files.put('/b', key);
  const serving = make();
  await serving.start(signal);
  assert.equal(clock.pending(), 0);
  await serving.stop();
});

test('the cluster signs where it is asked to, if there is one', async () => {
  const { clock, make, log, files } = setUp({ serverTlsBootstrap: true, tlsCertFile: '/a', tlsPrivateKeyFile: '/b' });
  const api = await SigningApi.create(clock);
  const issued = make({ api, addresses: () => [{ type: 'InternalIP', address: '10.0.0.7' }] });
  await issued.start(signal);
  await clock.runUntil(() => issued.current() !== undefined, 60_000);
  await issued.stop();
  assert.equal(api.creations, 1);
  assert.ok(files.links.has('/pki/kubelet-server-current.pem'));

  const alone = setUp({ serverTlsBootstrap: true });
  const own = alone.make();
  await own.start(signal);
  assert.ok(own.current() !== undefined);
  await own.stop();
  assert.deepEqual([log.messages('warn').length, alone.log.messages('warn').length], [0, 1]);
});
