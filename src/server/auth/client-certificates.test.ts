import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { Registry } from '../../telemetry/registry.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryCertificateFiles } from '../../testing/memory-certificate-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import {
  nameIds,
  oddCertificate,
  usageIds,
  type NamePart,
  type OddCertificate,
} from '../../testing/odd-certificates.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { ClientCertificates } from './client-certificates.ts';
import type { AuthorityFiles } from './ports.ts';

const day = 86_400_000;
const file = '/etc/pki/ca.crt';
const { cn, o, uid } = nameIds;

/** A folder whose changes are reported by hand. */
class WatchedFiles extends MemoryCertificateFiles implements AuthorityFiles {
  readonly watched: string[] = [];
  report: ((name: string | undefined) => void) | undefined;
  lose: ((error: unknown) => void) | undefined;
  readings = 0;

  override stampOf(path: string): Promise<string> {
    this.readings++;
    return super.stampOf(path);
  }

  watch(folder: string, onChange: (name: string | undefined) => void, onError: (error: unknown) => void): () => void {
    this.watched.push(folder);
    this.report = onChange;
    this.lose = onError;
    return () => {
      this.report = undefined;
    };
  }
}

function setUp(t: TestContext, userIds = true) {
  const clock = new FakeClock();
  const files = new WatchedFiles();
  const log = new MemoryLog();
  const metrics = new Registry();
  const deps = {
    heartbeats: new Heartbeats(),
    clock,
    files,
    log,
    metrics,
    random: seededRandom(1),
    clientCAFile: file,
    userIds,
  };
  const certificates = new ClientCertificates(deps);
  const reported: string[] = [];
  t.after(() => certificates.stop());
  const times = { notBefore: clock.now() - day, notAfter: clock.now() + day };
  const authority = (name: string) => oddCertificate({ ...times, subject: [[[cn, name]]], authority: true });
  const client = (issuer: OddCertificate, subject: readonly (readonly NamePart[])[] = [[[cn, 'ann']]]) =>
    oddCertificate({ ...times, subject, issuer, usages: [usageIds.clientAuth] });
  const whoIs = (...chain: readonly OddCertificate[]) =>
    certificates.authenticate({ chain: chain.map(({ der }) => der), tlsVerdict: 'ok' });
  const start = async (): Promise<void> => {
    await certificates.start(new AbortController().signal);
    certificates.onChange((pem) => reported.push(pem));
  };
  return { clock, files, log, metrics, certificates, reported, authority, client, whoIs, start };
}

test('the user is the common name, the groups are the organizations', async (t) => {
  const { files, authority, client, whoIs, start, metrics } = setUp(t);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  const leaf = client(ca, [
    [
      [o, 'system:masters'],
      [o, 'b, O=c'],
    ],
    [[uid, '42']],
    [[cn, 'ann']],
  ]);
  assert.deepEqual(await whoIs(leaf), {
    name: 'ann',
    uid: '42',
    groups: ['system:masters', 'b, O=c'],
    extra: {
      'authentication.kubernetes.io/credential-id': [
        `X509SHA256=${createHash('sha256').update(leaf.der).digest('hex')}`,
      ],
    },
  });
  assert.match(metrics.render(), /apiserver_client_certificate_expiration_seconds_bucket\{le="86400"\} 1\n/);
  assert.match(metrics.render(), /apiserver_client_certificate_expiration_seconds_bucket\{le="43200"\} 0\n/);
});

test('no caller: no certificate, no name, no trust', async (t) => {
  const { files, log, authority, client, whoIs, start, certificates } = setUp(t);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  assert.equal(await whoIs(), undefined);
  assert.equal(await certificates.authenticate({}), undefined);
  assert.equal(await whoIs(client(ca, [[[o, 'a']]])), undefined);
  assert.equal(await whoIs(client(authority('other'))), undefined);
  assert.deepEqual(log.messages('debug'), ['Certificate of a client is refused']);
});

test('the TLS library has to find it good too, but for what it does not know of purposes', async (t) => {
  const { clock, files, log, authority, certificates, start } = setUp(t);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  const times = { notBefore: clock.now() - day, notAfter: clock.now() + day, issuer: ca };
  const leaf = (usages: readonly string[]) => oddCertificate({ ...times, subject: [[[cn, 'ann']]], usages });
  const whoIs = ({ der }: OddCertificate, tlsVerdict?: string): string | undefined =>
    certificates.callerOf({ chain: [der], ...(tlsVerdict !== undefined && { tlsVerdict }) })?.name;
  assert.equal(whoIs(leaf([usageIds.clientAuth]), 'ok'), 'ann');
  assert.equal(whoIs(leaf([usageIds.clientAuth]), 'INVALID_PURPOSE'), undefined);
  assert.equal(whoIs(leaf([usageIds.clientAuth])), undefined);
  assert.equal(whoIs(leaf([usageIds.any]), 'INVALID_PURPOSE'), 'ann');
  assert.equal(whoIs(leaf([usageIds.any]), 'CERT_SIGNATURE_FAILURE'), undefined);
  const chain = [leaf([usageIds.clientAuth]).der];
  assert.equal(await certificates.authenticate({ chain, tlsVerdict: 'CERT_REVOKED' }), undefined);
  assert.match(JSON.stringify(log.entries.at(-1)), /the TLS library does not take it: CERT_REVOKED/);
});

test('a certificate ends when the clock says so', async (t) => {
  const { clock, files, authority, client, whoIs, start } = setUp(t);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  const leaf = client(ca);
  await clock.advance(day);
  assert.equal((await whoIs(leaf))?.name, 'ann');
  clock.setWall(clock.now() + 1_000);
  assert.equal(await whoIs(leaf), undefined);
});

test('user ids only where the gate is on', async (t) => {
  const { files, authority, client, whoIs, start } = setUp(t, false);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  assert.equal((await whoIs(client(ca, [[[uid, '42']], [[cn, 'ann']]])))?.uid, undefined);
});

test('a file that cannot be used fails the start, and says what to do', async (t) => {
  const { files, authority, start } = setUp(t);
  const advice = /\/etc\/pki\/ca\.crt cannot be used: .*set authentication\.x509\.clientCAFile to a PEM file/;
  await assert.rejects(start(), { kind: 'invalid', message: advice });
  for (const text of ['', 'hello', authority('a').pem.replace('MII', 'MIX')]) {
    files.put(file, text);
    await assert.rejects(start(), { kind: 'invalid', message: advice }, text);
  }
});

test('another file is found within a minute', async (t) => {
  const { clock, files, log, certificates, reported, authority, client, whoIs, start } = setUp(t);
  const [old, young] = [authority('old'), authority('young')];
  files.put(file, `# a comment\n${old.pem}`);
  await start();
  assert.equal(certificates.pem(), old.pem);
  files.put(file, `${old.pem}-----BEGIN RSA PRIVATE KEY-----\nxx\n-----END RSA PRIVATE KEY-----\n${young.pem}`);
  await clock.advance(60_000);
  assert.equal(certificates.pem(), `${old.pem}${young.pem}`);
  assert.equal((await whoIs(client(old)))?.name, 'ann');
  assert.equal((await whoIs(client(young)))?.name, 'ann');
  files.put(file, young.pem);
  await clock.advance(60_000);
  assert.equal(await whoIs(client(old)), undefined);
  assert.deepEqual(reported, [`${old.pem}${young.pem}`, young.pem]);
  assert.equal(log.messages('info').length, 2);
  files.put(file, young.pem);
  await clock.advance(60_000);
  assert.equal(reported.length, 2, 'the same again is nothing new');
});

test('a broken file is logged once, the bundle before stays, and a good one replaces it', async (t) => {
  const { clock, files, log, reported, authority, client, whoIs, start } = setUp(t);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  for (const breakIt of [() => files.put(file, 'rubbish'), () => files.files.delete(file)]) {
    log.clear();
    breakIt();
    await clock.advance(600_000);
    assert.equal(log.messages('error').length, 1);
    assert.equal((await whoIs(client(ca)))?.name, 'ann');
  }
  files.put(file, ca.pem);
  await clock.advance(60_000);
  assert.equal(log.messages('info').length, 1);
  assert.deepEqual(reported, []);
  const next = authority('next');
  files.put(file, next.pem);
  await clock.advance(60_000);
  assert.deepEqual(reported, [next.pem]);
});

test('the system reports changes, and only those that matter lead to a reading', async (t) => {
  const { clock, files, reported, authority, start } = setUp(t);
  files.put(file, authority('a').pem);
  await start();
  await clock.settle();
  assert.deepEqual(files.watched, ['/etc/pki']);
  const readings = files.readings;
  for (let times = 0; times < 50; times++) files.report?.('another.crt');
  await clock.advance(10_000);
  assert.equal(files.readings, readings);
  for (const [index, name] of ['ca.crt', '..data', undefined].entries()) {
    files.put(file, authority(`b${index}`).pem);
    for (let times = 0; times < 50; times++) files.report?.(name);
    await clock.advance(250);
    assert.equal(reported.length, index + 1, name);
    assert.equal(files.readings, readings + index + 1, 'a storm is one reading');
  }
});

test('a watch that breaks is begun anew', async (t) => {
  const { clock, files, authority, start } = setUp(t);
  files.put(file, authority('a').pem);
  await start();
  await clock.settle();
  files.lose?.(new Error('the folder is gone'));
  assert.equal(files.report, undefined);
  await clock.advance(60_000);
  assert.equal(files.watched.length, 2);
});

test('a listener that fails keeps no other from hearing; one that left hears nothing', async (t) => {
  const { clock, files, log, reported, authority, start, certificates } = setUp(t);
  files.put(file, authority('a').pem);
  await start();
  const heard: string[] = [];
  certificates.onChange(() => {
    throw new Error('no');
  });
  certificates.onChange((pem) => heard.push(pem))();
  const last: string[] = [];
  certificates.onChange((pem) => last.push(pem));
  files.put(file, authority('b').pem);
  await clock.advance(60_000);
  assert.deepEqual([reported.length, heard.length, last.length], [1, 0, 1]);
  assert.equal(log.messages('error').length, 1);
});

test('stopping leaves nothing behind', async (t) => {
  const { clock, files, authority, start, certificates } = setUp(t);
  files.put(file, authority('a').pem);
  await start();
  await clock.settle();
  await certificates.stop();
  assert.equal(clock.pending(), 0);
  assert.equal(files.report, undefined);
});

test('what was found out about a connection counts for its next requests, for a moment and under the same authorities', async (t) => {
  const { clock, files, certificates, authority, client, start } = setUp(t);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  const chain = [Buffer.from(client(ca).der)];
  const ask = async (): Promise<string | undefined> =>
    (await certificates.authenticate({ chain, tlsVerdict: 'ok' }))?.name;
  assert.equal(await ask(), 'ann');
  // A second reading shows that it is none.
  chain[0]?.fill(0);
  assert.equal(await ask(), 'ann');
  await clock.advance(10_000);
  assert.equal(await ask(), undefined);

  const other = [Buffer.from(client(ca).der)];
  const askOther = async (): Promise<string | undefined> =>
    (await certificates.authenticate({ chain: other, tlsVerdict: 'ok' }))?.name;
  assert.equal(await askOther(), 'ann');
  files.put(file, authority('another').pem);
  files.report?.('ca.crt');
  await clock.advance(1_000);
  assert.equal(await askOther(), undefined);
});

test('what was found out about a connection ends with the first certificate on the way to its authority', async (t) => {
  const { clock, files, certificates, authority, client, start } = setUp(t);
  const ca = authority('ca');
  files.put(file, ca.pem);
  await start();
  const short = { notBefore: clock.now() - day, notAfter: clock.now() + 5_000 };
  const usages = [usageIds.clientAuth];
  const leaf = oddCertificate({ ...short, subject: [[[cn, 'ann']]], issuer: ca, usages });
  const between = oddCertificate({ ...short, subject: [[[cn, 'between']]], issuer: ca, authority: true });
  const chains = [[leaf.der], [client(between).der, between.der]];
  const ask = (): Promise<readonly (string | undefined)[]> =>
    Promise.all(chains.map(async (chain) => (await certificates.authenticate({ chain, tlsVerdict: 'ok' }))?.name));
  assert.deepEqual(await ask(), ['ann', 'ann']);
  await clock.advance(5_000);
  assert.deepEqual(await ask(), ['ann', 'ann'], 'the last second counts');
  await clock.advance(1_000);
  assert.deepEqual(await ask(), [undefined, undefined]);
});
