import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { retryOnForbidden } from './retry-on-forbidden.ts';

/** Fails with one of the kinds for each request, then answers. */
function answering(...failures: readonly ErrorKind[]): { ask(): Promise<number>; asked: number } {
  return {
    asked: 0,
    async ask() {
      const kind = failures[this.asked++];
      if (kind !== undefined) throw new TubeletError(kind, kind);
      return this.asked;
    },
  };
}

test('a refusal may be a question that came too early: it is asked again soon, but not for ever', async () => {
  const clock = new FakeClock();
  const early = answering('denied', 'denied');
  const answer = retryOnForbidden(clock, () => early.ask());
  await clock.advance(50);
  assert.equal(early.asked, 2);
  await clock.advance(200);
  assert.equal(await answer, 3);

  const refused = answering('denied', 'denied', 'denied');
  const last = assert.rejects(
    retryOnForbidden(clock, () => refused.ask()),
    /denied/,
  );
  await clock.advance(250);
  await last;
});

test('any other failure is thrown at once', async () => {
  const broken = answering('unavailable');
  await assert.rejects(
    retryOnForbidden(new FakeClock(), () => broken.ask()),
    /unavailable/,
  );
  assert.equal(broken.asked, 1);
});
