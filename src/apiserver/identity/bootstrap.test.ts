import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryCertificateFiles } from '../../testing/memory-certificate-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { quickKey, SigningApi } from '../../testing/signing-api.ts';
import { parseKubeconfig } from '../kubeconfig/parse-kubeconfig.ts';
import type { BootstrapDeps } from './bootstrap-client.ts';
import { CertificateStore } from './certificate-store.ts';
import { prepareClientIdentity, type ClientIdentity, type ClientIdentityOptions } from './client-identity.ts';
import { kubeconfigText } from './kubeconfig-text.ts';

const paths = { kubeconfig: '/etc/kubelet.conf', bootstrap: '/etc/bootstrap.conf', pki: '/pki' };
const keyFile = '/pki/kubelet-client.key.tmp';
const current = '/pki/kubelet-client-current.pem';
const minute = 60_000;
const never = new AbortController().signal;
const bootstrapText = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://api.example:6443", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: abcdef.0123456789abcdef}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;

async function setUp(change: Partial<ClientIdentityOptions> = {}) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const files = new MemoryCertificateFiles();
  const api = await SigningApi.create(clock);
  files.put(paths.bootstrap, bootstrapText, 0o600);
  const options: ClientIdentityOptions = {
    kubeconfig: paths.kubeconfig,
    bootstrapKubeconfig: paths.bootstrap,
    certDir: paths.pki,
    nodeName: 'worker-1',
    rotate: true,
    ...change,
  };
  let open = 0;
  const deps: BootstrapDeps = {
    clock,
    random: seededRandom(1),
    log,
    files,
    newKey: quickKey,
    store: new CertificateStore({ files, log, folder: paths.pki, purpose: 'client' }),
    connect: async ({ server, user }) => {
      assert.equal(server.href, 'https://api.example:6443/');
      assert.equal(user.token?.reveal(), 'abcdef.0123456789abcdef');
      open++;
      return {
        api,
        close: async () => {
          open--;
        },
      };
    },
  };
  const prepare = (signal = never): Promise<ClientIdentity> => prepareClientIdentity(options, deps, signal);
  return { clock, log, files, api, deps, prepare, open: () => open };
}

type World = Awaited<ReturnType<typeof setUp>>;

/** Runs on virtual time; answers the identity or what went wrong. */
async function outcome({ clock, prepare }: World, limitMs = 20 * minute): Promise<ClientIdentity | TubeletError> {
  let result: ClientIdentity | TubeletError | undefined;
  prepare().then(
    (identity) => (result = identity),
    (error: unknown) => (result = error as TubeletError),
  );
  await clock.runUntil(() => result !== undefined, limitMs);
  assert.ok(result !== undefined);
  return result;
}

async function identity(world: World): Promise<ClientIdentity> {
  const result = await outcome(world);
  if (result instanceof Error) throw result;
  return result;
}

/** The error; empty after success. */
async function failure(world: World, limitMs?: number): Promise<string> {
  const result = await outcome(world, limitMs);
  return result instanceof Error ? result.message : '';
}

test('a node gets its certificate and a kubeconfig that leads to it', async () => {
  const world = await setUp();
  const { files, api, log } = world;
  const { access, rotates } = await identity(world);
  assert.deepEqual(access.user, { clientCertificate: { file: current }, clientKey: { file: current } });
  assert.equal(rotates, true);
  assert.equal((await world.deps.store.read())?.commonName, 'system:node:worker-1');
  assert.equal(files.files.get(paths.kubeconfig)?.mode, 0o600);
  assert.equal(
    await files.readText(paths.kubeconfig),
    `apiVersion: v1
clusters:
- cluster:
    certificate-authority: /etc/ca.crt
    server: https://api.example:6443
  name: default-cluster
contexts:
- context:
    cluster: default-cluster
    namespace: default
    user: default-auth
  name: default-context
current-context: default-context
kind: Config
users:
- name: default-auth
  user:
    client-certificate: ${current}
    client-key: ${current}
`,
  );
  assert.ok(!files.files.has(keyFile));
  assert.equal(api.creations, 1);
  assert.equal(world.open(), 0);
  assert.ok(!JSON.stringify(log.entries).includes('PRIVATE KEY'));
  // The next start has nothing to do.
  await identity(world);
  assert.equal(api.creations, 1);
});

test('the cluster of the bootstrap kubeconfig is kept', () => {
  const text = `
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443/sub
    certificate-authority-data: ${Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64')}
    tls-server-name: "api: #1"
    proxy-url: socks5://proxy:1080
    disable-compression: true
contexts: [{name: x, context: {cluster: c}}]
current-context: x
`;
  const { user: _, ...before } = parseKubeconfig(text, { file: '/a/b' });
  const { user, ...written } = parseKubeconfig(kubeconfigText({ user: {}, ...before }, '/p k/i.pem'), { file: '/c' });
  assert.deepEqual(written, before);
  assert.deepEqual(user, { clientCertificate: { file: '/p k/i.pem' }, clientKey: { file: '/p k/i.pem' } });
});

test('a power failure at any moment costs only time', async () => {
  const whole = await setUp();
  await identity(whole);
  const steps = whole.files.changes;
  assert.deepEqual(
    steps.map((step) => step.replace(/client-2025[-\d]+/, 'client-TIME')),
    [
      `replace ${keyFile}`,
      'replace /pki/kubelet-client-TIME.pem',
      `link ${current}`,
      `replace ${paths.kubeconfig}`,
      `remove ${keyFile}`,
    ],
  );
  for (let left = 0; left < steps.length; left++) {
    const world = await setUp();
    world.files.changesLeft = left;
    assert.match(await failure(world), /the power has gone/, `after ${left} changes`);
    world.files.changesLeft = Number.POSITIVE_INFINITY;
    await identity(world);
    assert.equal(world.api.creations, 1, `after ${left} changes`);
    assert.equal((await world.deps.store.read())?.commonName, 'system:node:worker-1');
    assert.equal(world.open(), 0);
  }
});

test('an interrupted start finds its own request again, also when the answer was lost', async () => {
  const world = await setUp();
  world.api.mood = 'ignore';
  const stop = new AbortController();
  const waiting = assert.rejects(world.prepare(stop.signal), /stop now/);
  await world.clock.advance(30_000);
  stop.abort(new TubeletError('cancelled', 'stop now'));
  await waiting;
  assert.ok(world.files.files.has(keyFile));
  const warning = world.log.entries.find(({ message }) => message.includes('waits to be approved'));
  assert.match(String(warning?.fields['command']), /^kubectl certificate approve node-csr-/);
  world.api.mood = 'sign';
  await identity(world);
  assert.equal(world.api.creations, 1);

  const lost = await setUp();
  lost.api.loseAnswer = true;
  await identity(lost);
  assert.equal(lost.api.creations, 1);
});

test('without an approval it ends after a quarter of an hour with a hint for the operator', async () => {
  const world = await setUp();
  for (const mood of ['ignore', 'approveOnly'] as const) {
    world.api.mood = mood;
    const began = world.clock.monotonic();
    const error = await failure(world);
    assert.match(
      error,
      /not been approved and signed within 15 minutes; approve it with: kubectl certificate approve node-csr-\S+$/,
    );
    const took = world.clock.monotonic() - began;
    assert.ok(took >= 15 * minute && took < 15.5 * minute, String(took));
  }
});

test('an approval that comes late is as good', async () => {
  const world = await setUp();
  world.api.mood = 'ignore';
  world.clock.after(14 * minute, () => (world.api.mood = 'sign'));
  await identity(world);
  assert.equal(world.api.creations, 1);
});

test('a denial ends it, and asking again finds it until it is deleted', async () => {
  for (const [mood, words] of [
    ['deny', /was denied \(KubectlDeny: who are you\?\); .*kubectl delete csr node-csr-/],
    ['fail', /could not be signed \(SignerValidationFailure\)/],
  ] as const) {
    const world = await setUp();
    world.api.mood = mood;
    assert.match(await failure(world), words);
    world.api.mood = 'sign';
    assert.match(await failure(world), words);
    assert.equal(world.api.creations, 1);
    world.api.requests.clear();
    await identity(world);
    assert.equal(world.api.creations, 2);
  }
});

test('a certificate that was not asked for is refused', async () => {
  for (const [mood, words] of [
    ['otherKey', /do not belong together/],
    ['otherName', /system:node:another and not all that was asked for/],
    ['expired', /expired at/],
    ['garbage', /no certificate/],
  ] as const) {
    const world = await setUp();
    world.api.mood = mood;
    const error = await failure(world);
    assert.match(error, words);
    assert.equal(await world.deps.store.read(), undefined);
    assert.ok(!world.files.files.has(paths.kubeconfig));
    // It tried with another key, since that is all it can do.
    assert.equal(world.api.creations, 2);
    world.api.mood = 'sign';
    world.files.files.delete(keyFile);
    await identity(world);
  }
});

test('the API server may be unavailable for a while, but not for ever', async () => {
  const world = await setUp();
  world.api.away = true;
  world.clock.after(10 * minute, () => (world.api.away = false));
  await identity(world);
  assert.equal(world.api.creations, 1);

  const lost = await setUp();
  lost.api.away = true;
  assert.match(await failure(lost), /ECONNREFUSED/);
  assert.ok(lost.clock.monotonic() > 14 * minute);

  const between = await setUp();
  between.api.mood = 'ignore';
  between.clock.after(minute, () => (between.api.away = true));
  between.clock.after(5 * minute, () => {
    between.api.away = false;
    between.api.mood = 'sign';
  });
  await identity(between);
  assert.equal(between.api.creations, 1);
});

test('credentials that are refused end it at once, with advice', async () => {
  for (const [status, advice] of [
    [401, /kubeadm token create/],
    [403, /system:node-bootstrapper/],
  ] as const) {
    const world = await setUp();
    world.api.refuse = status;
    assert.match(await failure(world, 1_000), advice);
  }
});

test('an expired certificate is replaced, or complained about when that cannot be', async () => {
  const world = await setUp();
  world.api.lifetimeMs = 10 * minute;
  await identity(world);
  const first = await world.deps.store.read();
  await world.clock.advance(11 * minute);
  const { access, rotates } = await prepareClientIdentity(
    { kubeconfig: paths.kubeconfig, bootstrapKubeconfig: '', certDir: paths.pki, nodeName: 'worker-1', rotate: true },
    world.deps,
    never,
  );
  assert.deepEqual([access.user.clientKey, rotates], [{ file: current }, true]);
  assert.equal(world.log.messages('error').length, 1);
  await identity(world);
  assert.equal(world.api.creations, 2);
  assert.notEqual((await world.deps.store.read())?.fingerprint, first?.fingerprint);
});

test('damaged files are put aside and made again', async () => {
  const world = await setUp();
  await identity(world);
  const pem = world.files.links.get(current) ?? '';
  world.files.put(pem, (await world.files.readText(pem)).slice(0, 300), 0o600);
  world.files.put(keyFile, '-----BEGIN EC', 0o600);
  await identity(world);
  assert.equal(world.api.creations, 2);
  assert.ok(world.files.files.has(`${pem}.damaged`) && world.files.files.has(`${keyFile}.damaged`));

  world.files.put(paths.kubeconfig, 'clusters: [', 0o600);
  await identity(world);
  assert.equal(await world.files.readText(`${paths.kubeconfig}.damaged`), 'clusters: [');
  // The certificate was there already.
  assert.equal(world.api.creations, 2);
});

test('without bootstrap credentials a missing or broken kubeconfig is an error that names it', async () => {
  const world = await setUp({ bootstrapKubeconfig: '' });
  assert.match(await failure(world), /--kubeconfig \/etc\/kubelet\.conf: there is no kubeconfig; give/);
  const other = await setUp({ bootstrapKubeconfig: '/etc/nothing' });
  assert.match(await failure(other), /--bootstrap-kubeconfig \/etc\/nothing cannot be used/);
});

test('a kubeconfig that holds its certificate hands it to the store; a token is left alone', async () => {
  const world = await setUp({ bootstrapKubeconfig: '' });
  const donor = await setUp();
  await identity(donor);
  const text = await donor.files.readText(current);
  const data = Buffer.from(text).toString('base64');
  const user = (fields: string): string => bootstrapText.replace('{token: abcdef.0123456789abcdef}', `{${fields}}`);
  world.files.put(paths.kubeconfig, user(`client-certificate-data: ${data}, client-key-data: ${data}`));
  const { access, rotates } = await identity(world);
  assert.deepEqual([access.user.clientCertificate, rotates], [{ file: current }, true]);
  assert.equal((await world.deps.store.read())?.commonName, 'system:node:worker-1');

  world.files.put(paths.kubeconfig, bootstrapText);
  const byToken = await identity(world);
  assert.deepEqual([byToken.rotates, byToken.access.user.clientCertificate], [false, undefined]);
  assert.equal(world.log.messages('warn').length, 1);

  const still = await setUp({ bootstrapKubeconfig: '', rotate: false });
  still.files.put(paths.kubeconfig, user(`client-certificate-data: ${data}, client-key-data: ${data}`));
  const { access: asIs } = await identity(still);
  assert.ok(asIs.user.clientCertificate !== undefined && 'data' in asIs.user.clientCertificate);
  assert.deepEqual(still.files.changes, []);
});
