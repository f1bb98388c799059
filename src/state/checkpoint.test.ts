import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TubeletError } from '../base/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { CheckpointFile } from './checkpoint-file.ts';
import { formatCheckpoint, parseCheckpoint } from './checkpoint.ts';

test('a written checkpoint is read, one of another version is not', () => {
  const text = formatCheckpoint(2, { a: [1, 'x'] });
  assert.deepEqual(parseCheckpoint(text, 2), { kind: 'read', content: { a: [1, 'x'] } });
  assert.deepEqual(parseCheckpoint(text, 3), { kind: 'absent' });
});

test('every truncation and every flipped character is detected', () => {
  const content = { pods: { uid: { phase: 'Running', ready: true } } };
  const text = formatCheckpoint(1, content);
  for (let end = 0; end < text.length - 1; end++) {
    assert.equal(parseCheckpoint(text.slice(0, end), 1).kind, 'damaged', `cut at ${end}`);
  }
  fc.assert(
    fc.property(fc.nat(text.length - 2), fc.integer({ min: 33, max: 126 }), (at, code) => {
      const flipped = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
      const reading = parseCheckpoint(flipped, 1);
      if (reading.kind === 'read') assert.deepEqual(reading.content, content);
    }),
  );
});

class MemoryDisk {
  readonly files = new Map<string, string>();
  writes = 0;
  async read(path: string): Promise<string> {
    const text = this.files.get(path);
    if (text === undefined) throw new TubeletError('notFound', path);
    return text;
  }
  async replace(path: string, text: string): Promise<void> {
    this.writes++;
    this.files.set(path, text);
  }
  async putAside(path: string): Promise<void> {
    this.files.set(`${path}.damaged`, this.files.get(path) ?? '');
    this.files.delete(path);
  }
}

function setUp(): {
  clock: FakeClock;
  log: MemoryLog;
  disk: MemoryDisk;
  file: CheckpointFile<number[]>;
  content: number[];
} {
  const [clock, log, disk] = [new FakeClock(), new MemoryLog(), new MemoryDisk()];
  const content: number[] = [];
  const file = new CheckpointFile('numbers', { clock, log, disk, path: '/n', version: 1, content: () => [...content] });
  return { clock, log, disk, file, content };
}

test('changes are gathered, and the last one is written before the stop ends', async () => {
  const { clock, disk, file, content } = setUp();
  for (let n = 0; n < 5; n++) {
    content.push(n);
    file.changed();
  }
  await clock.advance(1_000);
  assert.equal(disk.writes, 1);
  assert.deepEqual(await file.load(), [0, 1, 2, 3, 4]);
  content.push(5);
  file.changed();
  await file.stop();
  assert.deepEqual(await file.load(), [0, 1, 2, 3, 4, 5]);
  assert.equal(clock.pending(), 0);
});

test('a damaged file is put aside and reported, and the start continues', async () => {
  const { log, disk, file } = setUp();
  disk.files.set('/n', '{"version":1,"chec');
  assert.equal(await file.load(), undefined);
  assert.equal(log.messages('warn').length, 1);
  assert.ok(disk.files.has('/n.damaged') && !disk.files.has('/n'));
  assert.equal(await file.load(), undefined);
});

test('a damaged file that cannot be put aside is reported, and the start continues', async () => {
  const { clock, log, disk, file, content } = setUp();
  disk.files.set('/n', '{"version":1,"chec');
  disk.putAside = () => Promise.reject(new TubeletError('denied', 'read-only file system'));
  assert.equal(await file.load(), undefined);
  assert.equal(log.messages('error').length, 1);
  content.push(1);
  file.changed();
  await clock.advance(1_000);
  assert.deepEqual(await file.load(), [1]);
});

test('a refused write is repeated later, and not after the stop', async () => {
  const { clock, disk, file, content } = setUp();
  const replace = disk.replace.bind(disk);
  disk.replace = () => Promise.reject(new TubeletError('exhausted', 'no space left on device'));
  content.push(1);
  file.changed();
  await clock.advance(5_000);
  assert.equal(await file.load(), undefined);
  disk.replace = replace;
  await clock.advance(6_000);
  assert.deepEqual(await file.load(), [1]);
  assert.equal(clock.pending(), 0);

  disk.replace = () => Promise.reject(new TubeletError('exhausted', 'no space left on device'));
  file.changed();
  await file.stop();
  assert.equal(clock.pending(), 0);
});
