import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { InvariantError, TubeletError } from '../base/errors.ts';
import { Registry } from '../telemetry/index.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { classifyUnexpected, UnexpectedErrors, type UnexpectedKind } from './unexpected-errors.ts';

const system = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const broken = new InvariantError('a mailbox has one taker');

const cases: readonly (readonly [string, UnexpectedKind, unknown, 'goOn' | 'end'])[] = [
  ['a rejected promise', 'unhandledRejection', new TypeError('x is undefined'), 'goOn'],
  ['a rejection that is no error', 'unhandledRejection', 'no', 'goOn'],
  ['what the runtime answered', 'unhandledRejection', new TubeletError('internal', 'runtime is broken'), 'goOn'],
  ['a rejection by an invariant', 'unhandledRejection', broken, 'end'],
  ['an invariant as the cause', 'unhandledRejection', new Error('cannot', { cause: broken }), 'end'],
  ['a thrown error', 'uncaughtException', new TypeError('x is undefined'), 'end'],
  ['something else thrown', 'uncaughtException', undefined, 'end'],
  ['a connection that the other side reset', 'uncaughtException', system('ECONNRESET', 'read'), 'goOn'],
  ['a pipe without a reader', 'uncaughtException', system('EPIPE', 'write'), 'goOn'],
  ['a disk that is full', 'uncaughtException', system('ENOSPC', 'write'), 'end'],
  [
    'a broken connection by an invariant',
    'uncaughtException',
    Object.assign(system('EPIPE', 'write'), { cause: broken }),
    'end',
  ],
];
for (const [name, kind, error, act] of cases) {
  test(`unexpected: ${name}: ${act}`, () => assert.equal(classifyUnexpected(kind, error).act, act));
}

test('an error whose cause is itself is judged all the same', () => {
  const error = new Error('round');
  error.cause = error;
  assert.equal(classifyUnexpected('unhandledRejection', error).act, 'goOn');
});

function setUp() {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const source = new EventEmitter();
  const errors = new UnexpectedErrors({ clock, log });
  errors.watch(source);
  const registry = new Registry();
  errors.countIn(registry);
  const count = (kind: UnexpectedKind): string | undefined =>
    new RegExp(`^tubelet_unexpected_errors_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(registry.render())?.[1];
  return { clock, log, source, errors, count };
}

test('a rejection is logged with its origin and counted, and ends nothing', () => {
  const { log, source, errors, count } = setUp();
  assert.equal(count('unhandledRejection'), '0');
  source.emit('unhandledRejection', new Error('outer', { cause: new Error('inner') }));
  source.emit('unhandledRejection', 'a word');
  assert.equal(errors.signal.aborted, false);
  assert.deepEqual([count('unhandledRejection'), count('uncaughtException')], ['2', '0']);
  const [first, second] = log.entries;
  assert.equal(first?.message, 'Unexpected error, continuing');
  assert.match(
    String(first?.fields['origin']),
    /^Error: outer\n +at .*unexpected-errors[^]*\ncaused by Error: inner\n +at /,
  );
  assert.deepEqual([second?.fields['kind'], second?.fields['origin']], ['unhandledRejection', 'no error, but string']);
});

test('the first error that ends the agent is the reason, and later ones are logged', () => {
  const { log, source, errors, count } = setUp();
  source.emit('uncaughtException', new Error('first'));
  source.emit('uncaughtException', new Error('second'));
  assert.match(String(errors.signal.reason), /uncaughtException: first/);
  assert.deepEqual(log.messages('error'), ['Unexpected error, ending the agent', 'Unexpected error, ending the agent']);
  assert.equal(count('uncaughtException'), '2');
});

test('a flood is counted in full and logged in part', async () => {
  const { clock, log, source, count } = setUp();
  for (let n = 0; n < 1_000; n++) source.emit('unhandledRejection', new Error('again'));
  assert.deepEqual([log.entries.length, count('unhandledRejection')], [20, '1000']);
  await clock.advance(5_000);
  source.emit('unhandledRejection', new Error('again'));
  assert.equal(log.entries.at(-1)?.fields['unlogged'], 980);
});

test('a log that fails does not fail the count', () => {
  const source = new EventEmitter();
  const failing = {
    error: () => {
      throw new Error('disk full');
    },
  };
  const errors = new UnexpectedErrors({ clock: new FakeClock(), log: failing });
  errors.watch(source);
  source.emit('uncaughtException', new Error('first'));
  assert.equal(errors.signal.aborted, true);
});
