import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { Registry } from '../../telemetry/registry.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { refusal, ScriptedReviews } from '../../testing/scripted-reviews.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { callerOf, TokenReviews } from './token-reviews.ts';

const calm = (): AbortSignal => new AbortController().signal;

function setUp(cacheTtlMs = 120_000) {
  const clock = new FakeClock();
  const reviews = new ScriptedReviews();
  const metrics = new Registry();
  const tokens = new TokenReviews({ clock, random: seededRandom(1), metrics, api: reviews.api, cacheTtlMs });
  reviews.token = (token) =>
    token.startsWith('good')
      ? { authenticated: true, user: { username: token, groups: ['g'] } }
      : { authenticated: false };
  const ask = (bearer: string) => tokens.authenticate({ bearer }, calm());
  return { clock, reviews, metrics, tokens, ask };
}

const unavailable = (): TubeletError => new TubeletError('unavailable', 'no answer');

test('what is asked, and whom the answer names', async () => {
  const { reviews, ask } = setUp();
  assert.deepEqual(await ask('good'), { name: 'good', groups: ['g'] });
  assert.deepEqual(reviews.objects, [
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'good' } },
  ]);
  assert.equal(await ask('bad'), undefined);
});

test('answers of every shape', () => {
  const user = { username: 'ann', uid: '7', groups: ['a'], extra: { k: ['v'] } };
  assert.deepEqual(callerOf({ spec: {}, status: { authenticated: true, user } }), {
    name: 'ann',
    uid: '7',
    groups: ['a'],
    extra: { k: ['v'] },
  });
  for (const status of [undefined, {}, { authenticated: false, user }, { authenticated: true }])
    assert.equal(callerOf({ spec: {}, ...(status !== undefined && { status }) }), undefined);
  assert.throws(() => callerOf({ spec: {}, status: { authenticated: false, error: 'expired' } }), { kind: 'denied' });
});

test('good and bad tokens are remembered for a time', async () => {
  const { clock, reviews, ask } = setUp(1_000);
  for (const token of ['good', 'bad']) {
    await ask(token);
    await clock.advance(999);
    await ask(token);
    assert.deepEqual(reviews.asked, [token]);
    await clock.advance(1);
    await ask(token);
    assert.deepEqual(reviews.asked, [token, token]);
    reviews.asked.length = 0;
  }
  const eager = setUp(0);
  await eager.ask('good');
  await eager.ask('good');
  assert.equal(eager.reviews.asked.length, 2, 'a time of nothing remembers nothing');
});

test('one review for all who ask at once, and never for another token', async () => {
  const { reviews, ask, metrics } = setUp();
  let open = (): void => {};
  reviews.gate = new Promise((resolve) => (open = resolve));
  const all = ['good', 'good', 'good', 'good2'].map(ask);
  assert.match(metrics.render(), /active_fetch_count\{status="blocked"\} 4/);
  assert.match(metrics.render(), /active_fetch_count\{status="in_flight"\} 2/);
  open();
  assert.deepEqual(
    (await Promise.all(all)).map((caller) => caller?.name),
    ['good', 'good', 'good', 'good2'],
  );
  assert.deepEqual(reviews.asked, ['good', 'good2']);
  assert.match(metrics.render(), /active_fetch_count\{status="blocked"\} 0/);
  assert.match(metrics.render(), /active_fetch_count\{status="in_flight"\} 0/);
});

test('an API server that does not answer is asked five times, ever more slowly', async () => {
  const { clock, reviews, ask } = setUp();
  reviews.failures.push(unavailable(), refusal(500, 'unavailable'), refusal(429, 'exhausted'), refusal(504, 'timeout'));
  const asking = ask('good');
  const times: number[] = [];
  for (let seen = 0; seen < 5;) {
    await clock.settle();
    if (reviews.asked.length > seen) times.push(clock.monotonic());
    seen = reviews.asked.length;
    await clock.advance(50);
  }
  assert.deepEqual(await asking, { name: 'good', groups: ['g'] });
  const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  for (const [index, wait] of waits.entries()) {
    const base = 500 * 1.5 ** index;
    assert.ok(wait >= base - 50 && wait <= base * 1.2 + 100, `wait ${index} was ${wait}`);
  }
});

test('errors are thrown, and not remembered', async () => {
  const { clock, reviews, ask } = setUp();
  reviews.failures.push(...Array.from({ length: 5 }, unavailable));
  const asking = assert.rejects(ask('good'), { kind: 'unavailable' });
  await clock.advance(10_000);
  await asking;
  assert.equal(reviews.asked.length, 5);
  assert.deepEqual((await ask('good'))?.name, 'good');

  reviews.failures.push(refusal(403, 'denied'));
  await assert.rejects(ask('good3'), { kind: 'denied' });
  assert.equal(reviews.asked.length, 7, 'a refusal is no reason to ask again');

  reviews.token = () => ({ authenticated: false, error: 'the oracle is out' });
  await assert.rejects(ask('good4'), { kind: 'denied' });
  reviews.token = () => ({ authenticated: true, user: { username: 'x' } });
  assert.equal((await ask('good4'))?.name, 'x');
});

test('a flood of bad tokens from one address leaves room for good ones of others, and of those known before', async () => {
  const { clock, reviews, tokens } = setUp(1_000);
  const ask = (bearer: string, address: string) => tokens.authenticate({ bearer, address }, calm());
  assert.equal((await ask('good-old', '10.0.0.66'))?.name, 'good-old');
  await clock.advance(2_000);
  let open = (): void => {};
  reviews.gate = new Promise((resolve) => (open = resolve));
  const flood = Array.from({ length: 64 }, (_, n) => ask(`bad-${n}`, '10.0.0.66'));
  await assert.rejects(ask('bad-again', '::ffff:10.0.0.66'), { kind: 'exhausted' });
  await assert.rejects(ask('good-new', '10.0.0.66'), { kind: 'exhausted' });
  const good = [ask('good-other', '10.0.0.1'), ask('good-old', '10.0.0.66')];
  open();
  assert.deepEqual(
    (await Promise.all(good)).map((caller) => caller?.name),
    ['good-other', 'good-old'],
  );
  await Promise.all(flood);
});

test('bad tokens do not push out the memory of good ones', async () => {
  const { reviews, ask } = setUp();
  await ask('good');
  for (let n = 0; n < 5_000; n++) await ask(`bad-${n}`);
  reviews.asked.length = 0;
  assert.equal((await ask('good'))?.name, 'good');
  assert.deepEqual(reviews.asked, []);
});

test('a token that is not good any more has no place of its own', async () => {
  const { clock, reviews, tokens } = setUp(1_000);
  const ask = (bearer: string) => tokens.authenticate({ bearer, address: '10.0.0.66' }, calm());
  await ask('good-once');
  await clock.advance(2_000);
  reviews.token = () => ({ authenticated: false });
  assert.equal(await ask('good-once'), undefined);
  await clock.advance(2_000);
  reviews.gate = new Promise(() => {});
  for (let n = 0; n < 64; n++) void ask(`bad-${n}`).catch(() => {});
  await assert.rejects(ask('good-once'), { kind: 'exhausted' });
});

test('who goes away waits no longer, and the review goes with the last', async () => {
  const { clock, reviews, tokens } = setUp();
  reviews.gate = new Promise(() => {});
  const leaving = new AbortController();
  const asking = tokens.authenticate({ bearer: 'good' }, leaving.signal);
  await clock.settle();
  leaving.abort(new Error('gone'));
  await assert.rejects(asking, /gone/);
  assert.equal(reviews.options[0]?.signal?.aborted, true);
  assert.equal(clock.pending(), 0);
});

test('nothing shown, nothing asked; nor for what is too long to be a token', async () => {
  const { reviews, tokens } = setUp();
  for (const bearer of [undefined, '', 'x'.repeat(100_000)])
    assert.equal(await tokens.authenticate({ bearer }, calm()), undefined);
  assert.deepEqual(reviews.asked, []);
});

test('figures', async () => {
  const { clock, reviews, ask, metrics } = setUp();
  reviews.failures.push(refusal(500, 'unavailable'), unavailable());
  const asking = ask('good');
  await clock.advance(5_000);
  await asking;
  await ask('good');
  reviews.failures.push(refusal(403, 'denied'));
  await assert.rejects(ask('good2'));
  const page = metrics.render();
  for (const line of [
    'apiserver_delegated_authn_request_total{code="201"} 1',
    'apiserver_delegated_authn_request_total{code="500"} 1',
    'apiserver_delegated_authn_request_total{code="403"} 1',
    'apiserver_delegated_authn_request_total{code="<error>"} 1',
    'apiserver_delegated_authn_request_duration_seconds_count{code="201"} 1',
    'apiserver_delegated_authn_request_duration_seconds_bucket{code="201",le="0.25"} 1',
    'authentication_token_cache_request_total{status="hit"} 1',
    'authentication_token_cache_request_total{status="miss"} 2',
    'authentication_token_cache_request_duration_seconds_count{status="miss"} 2',
    'authentication_token_cache_fetch_total{status="ok"} 1',
    'authentication_token_cache_fetch_total{status="error"} 1',
  ])
    assert.ok(page.includes(`${line}\n`), line);
});
