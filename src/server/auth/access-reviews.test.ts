import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../../telemetry/registry.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { refusal, ScriptedReviews } from '../../testing/scripted-reviews.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { AccessReviews, reviewSpec, verdictOf } from './access-reviews.ts';
import { alwaysAllow, makeAuthorizer } from './authorizers.ts';

const calm = (): AbortSignal => new AbortController().signal;
const ann = { name: 'ann', groups: ['g'] };
const readMetrics = { verb: 'get', subresource: 'metrics' };

function setUp() {
  const clock = new FakeClock();
  const reviews = new ScriptedReviews();
  const metrics = new Registry();
  const authorizer = new AccessReviews({
    clock,
    random: seededRandom(1),
    metrics,
    api: reviews.api,
    nodeName: 'n1',
    authorizedTtlMs: 300_000,
    unauthorizedTtlMs: 30_000,
  });
  reviews.access = ({ user }) => ({ allowed: user === 'ann', reason: 'by rule' });
  return { clock, reviews, metrics, authorizer };
}

test('the question as the API server gets it', async () => {
  const { reviews, authorizer } = setUp();
  const caller = { name: 'ann', uid: '7', groups: ['a', 'b'], extra: { k: ['v', 'w'] } };
  assert.deepEqual(await authorizer.authorize(caller, readMetrics, calm()), { allowed: true, reason: 'by rule' });
  assert.deepEqual(reviews.objects, [
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        resourceAttributes: { verb: 'get', version: 'v1', resource: 'nodes', subresource: 'metrics', name: 'n1' },
        user: 'ann',
        uid: '7',
        groups: ['a', 'b'],
        extra: { k: ['v', 'w'] },
      },
    },
  ]);
  assert.deepEqual(Object.keys(reviewSpec(ann, readMetrics, 'n1')), ['resourceAttributes', 'user', 'groups']);
});

test('verdicts of every shape', () => {
  const of = (status: object | undefined) => verdictOf({ spec: {}, ...(status !== undefined && { status }) } as never);
  assert.deepEqual(of({ allowed: true }), { allowed: true });
  assert.deepEqual(of({ allowed: false, reason: 'no rule' }), { allowed: false, reason: 'no rule' });
  assert.deepEqual(of({ allowed: false, denied: true, evaluationError: 'x' }), { allowed: false, reason: 'x' });
  assert.throws(() => of({ allowed: true, denied: true }), { kind: 'internal' });
  assert.throws(() => of(undefined), { kind: 'internal' });
});

test('yes and no are remembered for times of their own, each question for itself', async () => {
  const { clock, reviews, authorizer } = setUp();
  const bob = { name: 'bob', groups: ['g'] };
  const ask = async (caller: typeof ann, access = readMetrics): Promise<number> => {
    reviews.asked.length = 0;
    await authorizer.authorize(caller, access, calm());
    return reviews.asked.length;
  };
  assert.deepEqual([await ask(ann), await ask(ann), await ask(bob), await ask(bob)], [1, 0, 1, 0]);
  assert.equal(await ask({ ...ann, groups: [] }), 1, 'other groups');
  assert.equal(await ask(ann, { ...readMetrics, verb: 'create' }), 1, 'another verb');
  assert.equal(await ask(ann, { ...readMetrics, subresource: 'stats' }), 1, 'another subresource');
  await clock.advance(30_000);
  assert.deepEqual([await ask(ann), await ask(bob)], [0, 1]);
  await clock.advance(270_000);
  assert.deepEqual([await ask(ann), await ask(ann)], [1, 0]);
});

test('those who are above others elsewhere are asked about like all', async () => {
  const { reviews, authorizer } = setUp();
  reviews.access = () => ({ allowed: false });
  const verdict = await authorizer.authorize({ name: 'root', groups: ['system:masters'] }, readMetrics, calm());
  assert.deepEqual(verdict, { allowed: false });
  assert.equal(reviews.asked.length, 1);
});

test('one question at a time; failures are tried again and never remembered', async () => {
  const { clock, reviews, authorizer, metrics } = setUp();
  reviews.failures.push(...Array.from({ length: 5 }, () => refusal(503, 'unavailable')));
  const both = Promise.allSettled([1, 2].map(() => authorizer.authorize(ann, readMetrics, calm())));
  await clock.advance(10_000);
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(reviews.asked.length, 5);
  assert.equal((await authorizer.authorize(ann, readMetrics, calm())).allowed, true);
  const page = metrics.render();
  for (const line of [
    'apiserver_delegated_authz_request_total{code="503"} 5',
    'apiserver_delegated_authz_request_total{code="201"} 1',
    'apiserver_delegated_authz_request_duration_seconds_count{code="503"} 5',
  ])
    assert.ok(page.includes(`${line}\n`), line);
});

test('an authorizer by its settings', async () => {
  const { clock, reviews, metrics } = setUp();
  const deps = { clock, random: seededRandom(1), metrics: new Registry(), api: reviews.api, nodeName: 'n1' };
  const times = { authorizedTtlMs: 1, unauthorizedTtlMs: 1 };
  assert.equal(makeAuthorizer({ mode: 'AlwaysAllow', ...times }, { ...deps, api: undefined }), alwaysAllow);
  assert.deepEqual(await alwaysAllow.authorize(ann, readMetrics, calm()), { allowed: true });
  assert.ok(makeAuthorizer({ mode: 'Webhook', ...times }, deps) instanceof AccessReviews);
  assert.throws(() => makeAuthorizer({ mode: 'Webhook', ...times }, { ...deps, metrics, api: undefined }), {
    kind: 'invalid',
    message: /give --kubeconfig, or set authorization\.mode to AlwaysAllow/,
  });
  assert.throws(() => makeAuthorizer({ mode: 'RBAC', ...times }, deps), { kind: 'invalid', message: /"RBAC"/ });
});
