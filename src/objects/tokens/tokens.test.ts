import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import type { TokenRequest } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import type { TokenSpec } from '../../model/token-spec.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod } from '../../testing/pods.ts';
import { refreshAt, tokenKey, tokenRequest } from './compute-token.ts';
import { PodTokens } from './pod-tokens.ts';

const never = new AbortController().signal;
const spec: TokenSpec = {
  namespace: 'shop',
  serviceAccount: 'default',
  pod: { name: 'web', uid: podUid('u1') },
  audiences: [],
  expirationSeconds: 3_600,
};

/** A pod with a volume that shows that token. */
const pod = aPod({
  ...spec.pod,
  namespace: spec.namespace,
  spec: { volumes: [{ name: 'api', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] },
});

test('a request names the pod that the token dies with', () => {
  assert.deepEqual(tokenRequest({ ...spec, audiences: ['vault'] }).spec, {
    audiences: ['vault'],
    expirationSeconds: 3_600,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' },
  });
  const others = [{ audiences: ['a'] }, { expirationSeconds: 600 }, { pod: { name: 'web', uid: podUid('u2') } }];
  assert.equal(new Set([spec, ...others.map((other) => ({ ...spec, ...other }))].map(tokenKey)).size, 4);
});

describe('refreshAt', () => {
  const hours = (count: number): number => count * 3_600_000;
  const cases: readonly [string, number, number, number][] = [
    ['four fifths of an hour', hours(1), 0, hours(0.8)],
    ['daily, where it lives for a year', hours(8_760), 0, hours(24)],
    ['a little sooner by chance', hours(1), 0.5, hours(0.8) - 5_000],
  ];
  for (const [name, lifetimeMs, chance, expected] of cases) {
    test(name, () => assert.equal(refreshAt({ value: 't', expiresAtMs: lifetimeMs, lifetimeMs }, chance), expected));
  }
});

class World {
  readonly clock = new FakeClock();
  asked = 0;
  failure: TubeletError | undefined;
  readonly tokens = new PodTokens({
    clock: this.clock,
    random: { next: () => 0, hex: () => '' },
    log: new MemoryLog(),
    api: {
      create: async (resource, namespace, object, options) => {
        assert.deepEqual(
          [resource.plural, namespace, options?.of, options?.subresource],
          ['serviceaccounts', 'shop', 'default', 'token'],
        );
        this.asked++;
        await Promise.resolve();
        if (this.failure !== undefined) throw this.failure;
        const { spec } = object as unknown as TokenRequest;
        const expirationTimestamp = apiTime(this.clock.now() + (spec.expirationSeconds ?? 0) * 1_000);
        return { ...object, status: { token: `token-${this.asked}`, expirationTimestamp } } as never;
      },
    },
  });

  async get(): Promise<string> {
    return (await this.tokens.get(spec, never)).value;
  }
}

describe('PodTokens', () => {
  test('one request for many readers, a new one after four fifths of its life', async () => {
    const world = new World();
    assert.deepEqual(await Promise.all([world.get(), world.get()]), ['token-1', 'token-1']);
    assert.ok((world.tokens.refreshInMs(spec.pod.uid) ?? 0) > 2_870_000);
    await world.clock.advance(2_870_000);
    assert.equal(await world.get(), 'token-1');
    await world.clock.advance(20_000);
    assert.equal(await world.get(), 'token-2');
  });

  test('while the server is away the old one goes on, until it has expired', async () => {
    const world = new World();
    await world.get();
    world.failure = new TubeletError('unavailable', 'connection refused');
    await world.clock.advance(3_000_000);
    assert.equal(await world.get(), 'token-1');
    await world.clock.advance(700_000);
    await assert.rejects(world.get(), /connection refused/);
  });

  test('forgotten with its pod', async () => {
    const world = new World();
    await world.get();
    world.tokens.forget(spec.pod.uid);
    assert.equal(world.tokens.refreshInMs(spec.pod.uid), undefined);
    assert.equal(world.tokens.size(), 0);
    assert.equal(await world.get(), 'token-2');
  });

  test('a token that comes after its pod was removed is not kept', async () => {
    const world = new World();
    const late = world.get();
    assert.equal(world.tokens.size(), 1);
    world.tokens.forget(spec.pod.uid);
    assert.equal(await late, 'token-1');
    assert.equal(world.tokens.size(), 0);
  });

  test('prefetch: one request serves the volume that asks while it is under way, and the one that asks later', async () => {
    const world = new World();
    world.tokens.prefetch(pod, never);
    assert.equal(await world.get(), 'token-1');
    world.tokens.prefetch(pod, never);
    assert.equal(await world.get(), 'token-1');
    assert.equal(world.asked, 1);
  });

  test('a prefetch that fails fails no pod, and the next request tries again', async () => {
    const world = new World();
    world.failure = new TubeletError('unavailable', 'connection refused');
    world.tokens.prefetch(pod, never);
    await world.clock.advance(0);
    world.failure = undefined;
    assert.equal(await world.get(), 'token-2');
  });

  test('an answer without a token is an error that names the account', async () => {
    const world = new World();
    world.failure = new TubeletError('notFound', 'serviceaccounts "default" not found');
    await assert.rejects(world.get(), /serviceaccounts "default" not found/);
  });

  test('a refusal right after the binding is asked about again, twice', async () => {
    const world = new World();
    const overtaken = 'node requested token bound to a pod scheduled on a different node';
    world.failure = new TubeletError('denied', overtaken);
    const soon = world.get();
    await world.clock.advance(50);
    world.failure = undefined;
    await world.clock.advance(200);
    assert.equal(await soon, 'token-3');

    const other = new World();
    other.failure = new TubeletError('denied', overtaken);
    const never = assert.rejects(other.get(), /scheduled on a different node/);
    await other.clock.advance(250);
    await never;
    assert.equal(other.asked, 3);
  });
});
