import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { TubeletError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import type { Caller } from '../../model/caller.ts';
import { Registry } from '../../telemetry/registry.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryCertificateFiles } from '../../testing/memory-certificate-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { ScriptedReviews } from '../../testing/scripted-reviews.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { AuthenticatorChain, makeAuthentication, withAuthenticatedGroup } from './authenticators.ts';
import type { Authenticator, Credentials } from './ports.ts';

const calm = (): AbortSignal => new AbortController().signal;
const chain = [Buffer.from('a certificate')];
const ann: Caller = { name: 'ann', groups: ['a'] };
const bob: Caller = { name: 'bob', groups: [] };

const answering = (answer: Caller | Error | undefined): Authenticator => ({
  async authenticate() {
    if (answer instanceof Error) throw answer;
    return answer;
  },
});

test('certificate, then token, then anonymous', async () => {
  const failure = new TubeletError('unavailable', 'no answer');
  const shown = {
    none: {},
    certificate: { chain },
    token: { bearer: 't' },
    both: { chain, bearer: 't' },
    bad: { bearer: '' },
  };
  const off = 'off' as const;
  type Answer = Caller | Error | undefined | typeof off;
  const table: readonly (readonly [keyof typeof shown, Answer, Answer, boolean, string | undefined])[] = [
    ['none', ann, bob, true, 'system:anonymous'],
    ['none', ann, bob, false, undefined],
    ['certificate', ann, bob, true, 'ann'],
    ['certificate', undefined, bob, true, undefined],
    ['certificate', failure, bob, true, undefined],
    ['certificate', off, bob, true, 'system:anonymous'],
    ['certificate', off, bob, false, undefined],
    ['token', ann, bob, false, 'bob'],
    ['token', ann, undefined, true, undefined],
    ['token', ann, failure, true, undefined],
    ['token', ann, off, true, 'system:anonymous'],
    ['token', ann, off, false, undefined],
    ['bad', ann, undefined, true, undefined],
    ['both', ann, bob, false, 'ann'],
    ['both', undefined, bob, false, 'bob'],
    ['both', undefined, undefined, true, undefined],
    ['both', undefined, off, true, undefined],
  ];
  for (const [what, certificate, token, anonymous, wanted] of table) {
    const authenticator = new AuthenticatorChain({
      clock: new FakeClock(),
      log: silentLog,
      certificates: certificate === off ? undefined : answering(certificate),
      tokens: token === off ? undefined : answering(token),
      anonymous,
    });
    const caller = await authenticator.authenticate(shown[what] satisfies Credentials, calm());
    assert.equal(caller?.name, wanted, JSON.stringify([what, certificate, token, anonymous]));
  }
});

test('every authenticated caller is in one group more', () => {
  const table: readonly (readonly [Caller, readonly string[]])[] = [
    [ann, ['a', 'system:authenticated']],
    [{ name: 'x', groups: ['system:authenticated', 'b'] }, ['system:authenticated', 'b']],
    [{ name: 'x', groups: ['system:unauthenticated'] }, ['system:unauthenticated']],
    [{ name: 'system:anonymous', groups: [] }, []],
  ];
  for (const [caller, groups] of table) assert.deepEqual(withAuthenticatedGroup(caller).groups, groups);
});

test('failures are logged, but clients cannot flood the log', async () => {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const tokens = answering(new TubeletError('unavailable', 'no answer'));
  const authenticator = new AuthenticatorChain({ clock, log, certificates: undefined, tokens, anonymous: false });
  for (let times = 0; times < 5; times++) await authenticator.authenticate({ bearer: 't' }, calm());
  assert.equal(log.messages('error').length, 1);
  await clock.advance(10_000);
  await authenticator.authenticate({ bearer: 't' }, calm());
  assert.equal(log.messages('error').length, 2);
  log.clear();
  const refusing = new AuthenticatorChain({
    clock,
    log,
    certificates: undefined,
    tokens: answering(new TubeletError('denied', 'expired')),
    anonymous: false,
  });
  await refusing.authenticate({ bearer: 't' }, calm());
  assert.deepEqual(log.messages('error'), []);
});

test('a request that ended is no failed authentication', async () => {
  const tokens: Authenticator = { authenticate: async (_credentials, signal) => Promise.reject(signal.reason) };
  const log = new MemoryLog();
  const deps = { clock: new FakeClock(), log, certificates: undefined, tokens, anonymous: false };
  const gone = AbortSignal.abort(new TubeletError('cancelled', 'gone'));
  await assert.rejects(new AuthenticatorChain(deps).authenticate({ bearer: 't' }, gone), { kind: 'cancelled' });
  assert.deepEqual(log.entries, []);
});

test('authentication by its settings', async () => {
  const reviews = new ScriptedReviews();
  reviews.token = () => ({ authenticated: true, user: { username: 'tom' } });
  const deps = () => ({
    clock: new FakeClock(),
    random: seededRandom(1),
    log: silentLog,
    heartbeats: new Heartbeats(),
    metrics: new Registry(),
    files: new MemoryCertificateFiles(),
    api: reviews.api,
  });
  const none = { clientCAFile: '', webhookEnabled: false, cacheTtlMs: 1, anonymous: false, userIds: true };
  assert.throws(() => makeAuthentication(none, deps()), {
    kind: 'invalid',
    message: /set authentication\.x509\.clientCAFile, authentication\.webhook\.enabled or authentication\.anonymous/,
  });
  assert.throws(() => makeAuthentication({ ...none, webhookEnabled: true }, { ...deps(), api: undefined }), {
    kind: 'invalid',
    message: /give --kubeconfig, or set authentication\.webhook\.enabled to false/,
  });
  const open = makeAuthentication({ ...none, anonymous: true }, { ...deps(), api: undefined });
  assert.equal(open.clientCertificates, undefined);
  assert.equal((await open.authenticator.authenticate({}, calm()))?.name, 'system:anonymous');

  const all = makeAuthentication({ ...none, clientCAFile: '/ca', webhookEnabled: true }, deps());
  assert.ok(all.clientCertificates);
  assert.deepEqual(await all.authenticator.authenticate({ bearer: 't' }, calm()), {
    name: 'tom',
    groups: ['system:authenticated'],
  });
  assert.equal(await all.authenticator.authenticate({ chain }, calm()), undefined);
  assert.equal(await all.authenticator.authenticate({}, calm()), undefined);
});
