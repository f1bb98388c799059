import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { exitAfterFlush } from './exit-after-flush.ts';

test('the process ends after its last words, with its code', async () => {
  const said: string[] = [];
  const slow = new Writable({
    write(chunk: Buffer, _encoding, done) {
      setImmediate(() => {
        said.push(chunk.toString());
        done();
      });
    },
  });
  slow.write('the last words');
  const codes: number[] = [];
  await exitAfterFlush(3, [slow, new PassThrough()], new FakeClock(), (code) => {
    assert.ok(said.includes('the last words'));
    codes.push(code);
  });
  assert.deepEqual(codes, [3]);
});

test('a reader that never reads holds the end up for a moment only', async () => {
  const clock = new FakeClock();
  const stuck = new Writable({ write() {} });
  const codes: number[] = [];
  const left = exitAfterFlush(0, [stuck], clock, (code) => void codes.push(code));
  await clock.advance(1_999);
  assert.deepEqual(codes, []);
  await clock.advance(1);
  await left;
  assert.deepEqual(codes, [0]);
});
