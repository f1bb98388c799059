import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportedCall } from '../base/calls.ts';
import { TubeletError } from '../base/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { CallsUnderWay } from './calls-under-way.ts';

function setUp() {
  const clock = new FakeClock();
  const calls = new CallsUnderWay({ clock, limits: { underWay: 2, slow: 2, failed: 2 } });
  return { clock, calls };
}

test('a call that does not end is shown, with since when', async () => {
  const { clock, calls } = setUp();
  const since = new Date(clock.now()).toISOString();
  const end = calls.begin({ system: 'runtime', verb: 'stopContainer', subject: 'containerId=abc' });
  await clock.advance(42_000);
  assert.deepEqual(calls.page().underWay, [
    { system: 'runtime', verb: 'stopContainer', subject: 'containerId=abc', since, forMs: 42_000 },
  ]);
  end();
  assert.deepEqual(calls.page().underWay, []);
});

test('what ends in time and well leaves nothing', async () => {
  const { clock, calls } = setUp();
  const end = calls.begin({ system: 'apiserver', verb: 'GET' });
  await clock.advance(1_999);
  end();
  assert.deepEqual(calls.page(), { underWay: [], moreUnderWay: 0, slow: [], failed: [] });
});

test('each system has its own idea of slow', async () => {
  const { clock, calls } = setUp();
  for (const [system, ms] of [
    ['apiserver', 2_000],
    ['runtime', 5_000],
    ['driver:nfs.example.com', 10_000],
    ['storage', 2_000],
  ] as const) {
    const [quick, slow] = [calls.begin({ system, verb: 'quick' }), calls.begin({ system, verb: 'slow' })];
    await clock.advance(ms - 1);
    quick();
    await clock.advance(1);
    slow();
    assert.deepEqual(calls.page().slow.at(-1)?.longestMs, ms);
    assert.equal(calls.page().slow.at(-1)?.verb, 'slow');
    assert.equal(calls.page().slow.at(-1)?.system, system);
  }
  assert.equal(calls.page().slow.length, 2, 'the oldest went');
});

test('failures of one kind are counted; notFound, alreadyExists and cancelled are none', async () => {
  const { clock, calls } = setUp();
  const fail = (kind: TubeletError['kind'], verb = 'PUT'): Promise<unknown> =>
    assert.rejects(
      reportedCall(calls, { system: 'apiserver', verb, subject: 'leases' }, () => {
        throw new TubeletError(kind, `${kind} it is`);
      }),
    );
  const first = new Date(clock.now()).toISOString();
  for (let tries = 0; tries < 3; tries++) {
    await fail('unavailable');
    await clock.advance(1_000);
  }
  await fail('notFound');
  await fail('alreadyExists');
  await fail('cancelled');
  const [failed, ...others] = calls.page().failed;
  assert.deepEqual(others, []);
  assert.deepEqual(failed, {
    system: 'apiserver',
    verb: 'PUT',
    subject: 'leases',
    count: 3,
    firstTime: first,
    lastTime: new Date(clock.now() - 1_000).toISOString(),
    longestMs: 0,
    failure: { kind: 'unavailable', message: 'unavailable it is' },
  });
});

test('too many at a time are only counted, and ending twice counts once', () => {
  const { calls } = setUp();
  const ends = ['a', 'b', 'c'].map((verb) => calls.begin({ system: 'runtime', verb }));
  assert.deepEqual([calls.page().underWay.length, calls.page().moreUnderWay], [2, 1]);
  for (const end of [...ends, ...ends]) end();
  assert.deepEqual([calls.page().underWay.length, calls.page().moreUnderWay], [0, 0]);
});

test('words of the other side and subjects are cut', () => {
  const { calls } = setUp();
  calls.begin({ system: 'runtime', verb: 'v', subject: 's'.repeat(5_000) })({
    kind: 'internal',
    message: 'm'.repeat(5_000),
  });
  const [failed] = calls.page().failed;
  assert.deepEqual([failed?.subject?.length, failed?.failure?.message.length], [256, 512]);
});
