import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import { Registry } from '../../telemetry/registry.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { refusal, ScriptedReviews } from '../../testing/scripted-reviews.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { AccessReviews } from './access-reviews.ts';
import { TokenReviews } from './token-reviews.ts';

/** An answer of the API server, of which it may change its mind, and how it is asked for. */
interface Subject {
  readonly ttlOf: (answer: boolean) => number;
  readonly ask: (who: string) => Promise<boolean>;
}

type Make = (deps: { clock: Clock; reviews: ScriptedReviews; good: ReadonlySet<string> }) => Subject;

const calm = (): AbortSignal => new AbortController().signal;
const who = fc.constantFrom('ann', 'bob', 'cid');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), who }) },
  fc.record({ kind: fc.constant('change' as const), who }),
  fc.record({ kind: fc.constant('fail' as const), who }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(40) }) },
);

/** Against a list of the last answers with their times. */
async function checkAgainstModel(make: Make): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = new FakeClock({ quietTurns: 1 });
      const reviews = new ScriptedReviews();
      const good = new Set<string>();
      const { ttlOf, ask } = make({ clock, reviews, good });
      const last = new Map<string, { readonly answer: boolean; readonly until: number }>();
      for (const at of steps) {
        if (at.kind === 'wait') await clock.advance(at.ms);
        else if (at.kind === 'change') {
          if (!good.delete(at.who)) good.add(at.who);
        } else {
          const known = last.get(at.who);
          const isFresh = known !== undefined && clock.monotonic() < known.until;
          const fails = at.kind === 'fail' && !isFresh;
          reviews.asked.length = 0;
          if (fails) reviews.failures.push(refusal(400, 'invalid'));
          const answer = await ask(at.who).catch((error: unknown) => {
            assert.ok(error instanceof TubeletError && fails);
            return undefined;
          });
          assert.equal(reviews.asked.length, isFresh ? 0 : 1);
          assert.equal(answer, fails ? undefined : isFresh ? known.answer : good.has(at.who));
          if (answer !== undefined && !isFresh) last.set(at.who, { answer, until: clock.monotonic() + ttlOf(answer) });
        }
      }
    }),
    { numRuns: 40 },
  );
}

test('tokens: what is remembered, for how long, and what is not', () =>
  checkAgainstModel(({ clock, reviews, good }) => {
    reviews.token = (token) => ({ authenticated: good.has(token), user: { username: token } });
    const deps = { clock, random: seededRandom(1), metrics: new Registry(), api: reviews.api };
    const tokens = new TokenReviews({ ...deps, cacheTtlMs: 50 });
    return {
      ttlOf: () => 50,
      ask: async (bearer) => (await tokens.authenticate({ bearer }, calm())) !== undefined,
    };
  }));

test('accesses: what is remembered, for how long, and what is not', () =>
  checkAgainstModel(({ clock, reviews, good }) => {
    reviews.access = ({ user = '' }) => ({ allowed: good.has(user) });
    const deps = { clock, random: seededRandom(1), metrics: new Registry(), api: reviews.api, nodeName: 'n1' };
    const accesses = new AccessReviews({ ...deps, authorizedTtlMs: 70, unauthorizedTtlMs: 20 });
    const access = { verb: 'get', subresource: 'stats' };
    return {
      ttlOf: (answer) => (answer ? 70 : 20),
      ask: async (name) => (await accesses.authorize({ name, groups: [] }, access, calm())).allowed,
    };
  }));
