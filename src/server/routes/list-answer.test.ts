import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAnswer } from './list-answer.ts';

/** The chunks of an answer that comes in pieces. */
async function chunksOf(items: readonly unknown[], before = '{"a":[', after = ']}'): Promise<readonly Buffer[]> {
  const answer = listAnswer({ before, items, after });
  assert.ok(answer.kind === 'stream');
  const chunks: Buffer[] = [];
  const write = async (chunk: Uint8Array | string): Promise<void> => void chunks.push(Buffer.from(chunk));
  await answer.send({ write }, new AbortController().signal);
  return chunks;
}

const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString();

test('pieces are of some length, and no longer than that unless a single entry is', async () => {
  const items = Array.from({ length: 400 }, () => 'x'.repeat(3_000));
  const lengths = (await chunksOf(items)).map(({ length }) => length);
  assert.ok(lengths.length <= 7, `${lengths.length} pieces`);
  assert.ok(Math.max(...lengths) <= 256 * 1024);
  const [long] = (await chunksOf([...items, 'y'.repeat(400_000)])).filter(({ length }) => length > 256 * 1024);
  assert.equal(long?.length, 400_003);
});

test('other work runs while a long list is made, also while nothing goes out', async () => {
  const items = Array.from({ length: 100 }, () => 'x'.repeat(2_000));
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const { length } = await chunksOf(items);
  isDone = true;
  assert.equal(length, 1);
  assert.ok(turns >= 3, `${turns} turns`);
});

test('what stands before and after may be long too', async () => {
  const [before, after] = [`${' '.repeat(100_000)}[`, `]${' '.repeat(100_000)}`];
  const items = Array.from({ length: 20 }, (_, index) => index);
  assert.equal(text(await chunksOf(items, before, after)), `${before}${items.join(',')}${after}`);
});
