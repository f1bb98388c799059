import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { memoryVolumeHost } from '../../testing/memory-volume-host.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { visibleFiles } from '../../testing/visible-files.ts';
import { writeContents } from './atomic-writer.ts';
import { contentsFor } from './compute-write.ts';

type Texts = Readonly<Record<string, string>>;

async function setUp() {
  const files = new MemoryFiles();
  await files.makeFolder('/v', 0o777);
  const clock = new FakeClock();
  const deps = { clock, random: seededRandom(1), files, contents: memoryVolumeHost(files).contents };
  const contents = (texts: Texts, { mode = 0o644, fsGroup }: { mode?: number; fsGroup?: number } = {}) =>
    contentsFor(
      new Map(Object.entries(texts).map(([path, text]) => [path, { content: Buffer.from(text), mode }])),
      fsGroup,
    );
  const write = (texts: Texts, how: { mode?: number; fsGroup?: number } = {}): Promise<string> =>
    writeContents(deps, '/v', contents(texts, how));
  const listing = (): readonly string[] =>
    files.listing('/v').map((line) => line.replaceAll(/\.\.\d{4}[\d_.]+/g, '..stamp'));
  return { files, clock, write, listing };
}

describe('a write', () => {
  test('makes a folder of contents, the link to it, and a link for each first name', async () => {
    const { write, listing, files } = await setUp();
    assert.equal(await write({ alpha: 'one', 'x/y/z': 'two', 'x/w': 'three' }), 'written');
    assert.deepEqual(listing(), [
      '644 0:0 f ..stamp/alpha',
      '644 0:0 f ..stamp/x/w',
      '644 0:0 f ..stamp/x/y/z',
      '755 0:0 d ..stamp',
      '755 0:0 d ..stamp/x',
      '755 0:0 d ..stamp/x/y',
      '777 0:0 l ..data -> ..stamp',
      '777 0:0 l alpha -> ..data/alpha',
      '777 0:0 l x -> ..data/x',
    ]);
    const [stamp = ''] = (await files.list('/v')).filter((name) => name.startsWith('..2'));
    assert.match(stamp, /^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d{10}$/);
  });

  test('of nothing is an empty volume', async () => {
    const { write, listing } = await setUp();
    await write({});
    assert.deepEqual(listing(), ['755 0:0 d ..stamp', '777 0:0 l ..data -> ..stamp']);
  });

  test('has the group in everything', async () => {
    const { write, listing } = await setUp();
    await write({ 'x/y': '' }, { mode: 0o600, fsGroup: 9 });
    assert.deepEqual(listing(), [
      '2755 0:9 d ..stamp',
      '2755 0:9 d ..stamp/x',
      '640 0:9 f ..stamp/x/y',
      '777 0:9 l ..data -> ..stamp',
      '777 0:9 l x -> ..data/x',
    ]);
    assert.equal(await write({ 'x/y': '' }, { mode: 0o600, fsGroup: 9 }), 'unchanged');
  });

  test('of the same changes nothing', async () => {
    const { write, files } = await setUp();
    await write({ alpha: 'one' });
    files.fault = (operation) => assert.fail(`${operation} was called`);
    assert.equal(await write({ alpha: 'one' }), 'unchanged');
  });

  for (const [what, texts, how] of [
    ['text', { alpha: 'two' }, {}],
    ['mode', { alpha: 'one' }, { mode: 0o600 }],
    ['path', { beta: 'one' }, {}],
  ] as const) {
    test(`of another ${what} replaces all, and the old goes`, async () => {
      const { write, files } = await setUp();
      await write({ alpha: 'one', gone: '' });
      assert.equal(await write(texts, how), 'written');
      assert.deepEqual(await visibleFiles(files, '/v'), texts);
      assert.equal((await files.list('/v')).filter((name) => name.startsWith('..2')).length, 1);
    });
  }

  test('leaves alone what it did not make', async () => {
    const { write, files } = await setUp();
    files.append('/v/theirs', 'kept');
    files.entries.set('/v/link', { target: '/etc', mode: 0o777 });
    await write({ alpha: 'one' });
    assert.equal(files.has('/v/theirs') && files.has('/v/link'), true);
  });

  test('of a bad path writes nothing', async () => {
    const { write, listing } = await setUp();
    await assert.rejects(write({ fine: '', '../etc/passwd': '' }), /must not start with '..'/);
    await assert.rejects(write({ a: '', 'a/b': '' }), /both a file and a folder/);
    assert.deepEqual(listing(), []);
  });
});

describe('a crash at any step', () => {
  const before: Texts = { alpha: 'one', beta: 'one', 'x/y': 'one' };
  const later: Texts = { alpha: 'two', gamma: 'two', 'x/z': 'two' };

  async function crashAfter(steps: number): Promise<'crashed' | 'done'> {
    const { write, files, clock } = await setUp();
    await write(before);
    let left = steps;
    const seen: Texts[] = [];
    files.fault = (operation) => {
      if (left-- === 0) throw new Error(`killed before ${operation}`);
    };
    const outcome = await write(later).then(
      () => 'done' as const,
      () => 'crashed' as const,
    );
    files.fault = () => {};
    seen.push(await visibleFiles(files, '/v'));
    for (const texts of seen) {
      const values = new Set(Object.values(texts));
      assert.equal(values.size, 1, `after ${steps} steps both can be seen: ${JSON.stringify(texts)}`);
    }
    await clock.advance(1_000);
    await write(later);
    assert.deepEqual(await visibleFiles(files, '/v'), later, `after ${steps} steps it does not heal`);
    assert.equal((await files.list('/v')).length, 5);
    return outcome;
  }

  test('shows the old or the new, and heals', async () => {
    let steps = 0;
    while ((await crashAfter(steps)) === 'crashed') steps++;
    assert.ok(steps > 8, `only ${steps} steps`);
  });
});
