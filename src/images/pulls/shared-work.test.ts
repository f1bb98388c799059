import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedWork } from './shared-work.ts';

/** Work that ends when the test says so. */
function setUp() {
  const shared = new SharedWork<string>();
  const begun: { readonly signal: AbortSignal; end(value: string): void; fail(error: Error): void }[] = [];
  const work = (signal: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('given up')));
      begun.push({ signal, end: resolve, fail: reject });
    });
  const run = (key: string, signal = new AbortController().signal): Promise<string> => shared.run(key, work, signal);
  const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  return { shared, begun, run, settle };
}

test('concurrent calls get one outcome, a later call another', async () => {
  const { shared, begun, run, settle } = setUp();
  const both = Promise.all([run('a'), run('a')]);
  const other = run('b');
  await settle();
  assert.equal(begun.length, 2);
  begun[0]?.end('one');
  begun[1]?.end('other');
  assert.deepEqual([await both, await other], [['one', 'one'], 'other']);
  assert.equal(shared.size, 0);
  const failing = assert.rejects(run('a'), /broken/);
  await settle();
  begun[2]?.fail(new Error('broken'));
  await failing;
  assert.equal(shared.size, 0);
});

test('an aborted caller does not disturb the others', async () => {
  const { begun, run, settle } = setUp();
  const leaver = new AbortController();
  const left = assert.rejects(run('a', leaver.signal), /bye/);
  const stays = run('a');
  await settle();
  leaver.abort(new Error('bye'));
  await left;
  assert.equal(begun[0]?.signal.aborted, false);
  begun[0]?.end('done');
  assert.equal(await stays, 'done');
});

test('when all have aborted the work is aborted, and no call joins it any more', async () => {
  const { begun, run, settle } = setUp();
  const leavers = [new AbortController(), new AbortController()];
  const [first, second] = leavers.map(({ signal }) => run('a', signal));
  await settle();
  leavers[0]?.abort(new Error('bye'));
  await assert.rejects(first!, /bye/);
  leavers[1]?.abort(new Error('bye too'));
  const next = run('a');
  await assert.rejects(second!, /given up/, 'the last one sees the end of the work itself');
  await settle();
  assert.equal(begun.length, 2);
  begun[1]?.end('fresh');
  assert.equal(await next, 'fresh');
});

test('an aborted signal begins nothing', async () => {
  const { begun, run, settle } = setUp();
  await assert.rejects(run('a', AbortSignal.abort(new Error('bye'))), /bye/);
  await settle();
  assert.equal(begun.length, 0);
});
