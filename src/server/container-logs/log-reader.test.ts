import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { containerId } from '../../base/ids.ts';
import { systemClock } from '../../base/system-clock.ts';
import { hostLogFiles } from '../../host/log-files.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { decodeLogOptions } from './log-options.ts';
import { ContainerLogReader } from './log-reader.ts';
import type { ContainerLogFiles } from './ports.ts';

const id = containerId('c1');
let folder = '';
let path = '';
let world: World;

/** A client, a container and a clock that stands still. Without a watch, so that nothing depends on when it reports. */
class World {
  readonly clock = new FakeClock({ wall: Date.UTC(2026, 0, 1, 0, 1) });
  readonly log = new MemoryLog();
  readonly watched: ((name: string | undefined) => void)[] = [];
  readonly opened = { now: 0 };
  running = true;
  asked = 0;
  readonly reader: ContainerLogReader;

  constructor() {
    const files: ContainerLogFiles = {
      ...hostLogFiles,
      open: async (at) => {
        const file = await hostLogFiles.open(at);
        this.opened.now++;
        return {
          identity: file.identity,
          size: () => file.size(),
          read: (buffer, position, length) => file.read(buffer, position, length),
          close: () => (this.opened.now--, file.close()),
        };
      },
      watch: (_folder, onChange) => {
        this.watched.push(onChange);
        return () => void this.watched.splice(this.watched.indexOf(onChange), 1);
      },
    };
    const isRunning = async (): Promise<boolean> => (this.asked++, this.running);
    this.reader = new ContainerLogReader({ clock: this.clock, log: this.log, files, sources: { isRunning } });
  }

  follow(query = ''): Client {
    return new Client(this, `follow=1&${query}`);
  }

  async read(query = ''): Promise<string> {
    const client = new Client(this, query);
    await client.done;
    return client.text;
  }
}

class Client {
  readonly stop = new AbortController();
  readonly done: Promise<void>;
  text = '';
  ended = false;

  constructor({ reader }: World, query: string) {
    const decoded = decodeLogOptions(new URLSearchParams(query));
    assert.ok(decoded.kind === 'options');
    const sink = {
      write: async (chunk: Uint8Array | string) => void (this.text += Buffer.from(chunk).toString('latin1')),
    };
    this.done = reader.send({ path, id, named: {}, options: decoded.options }, sink, this.stop.signal).finally(() => {
      this.ended = true;
    });
    this.done.catch(() => {});
  }
}

let written = 0;
const line = (content: string): string =>
  `2026-01-01T00:00:00.${String(++written).padStart(9, '0')}Z stdout F ${content}\n`;
const say = (...contents: readonly string[]): void => appendFileSync(path, contents.map(line).join(''));
let rotations = 0;
const rotatedPath = (): string => `${path}.20260101-${String(++rotations).padStart(6, '0')}`;
function rotate(): string {
  const to = rotatedPath();
  renameSync(path, to);
  writeFileSync(path, '');
  return to;
}
const compress = (at: string): void => void execFileSync('gzip', [at]);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'logs-'));
  path = join(folder, '0.log');
  writeFileSync(path, '');
  world = new World();
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  assert.equal(world.opened.now, 0, 'every file is closed');
  assert.deepEqual(world.reader.load, { folders: 0, containers: 0 });
});

describe('a log that is read once', () => {
  test('is given as it is', async () => {
    say('one', 'two');
    assert.equal(await world.read(), 'one\ntwo\n');
    assert.equal(world.asked, 0);
  });

  test('is given from its last lines on', async () => {
    say(...Array.from({ length: 5_000 }, (_, index) => `line ${index} ${'x'.repeat(index % 97)}`));
    const whole = await world.read();
    for (const lines of [0, 1, 7, 1_500, 5_000, 9_000]) {
      const expected = whole
        .split('\n')
        .slice(0, -1)
        .slice(Math.max(0, 5_000 - lines))
        .map((text) => `${text}\n`)
        .join('');
      assert.equal(await world.read(`tailLines=${lines}`), lines === 0 ? '' : expected, String(lines));
    }
  });

  test('is given from a moment on, in the past or seconds ago', async () => {
    const at = (second: number): string => `2026-01-01T00:00:${second}.000000000Z stdout F ${second}\n`;
    writeFileSync(path, at(10) + at(29) + at(30) + at(31));
    assert.equal(await world.read('sinceTime=2026-01-01T00:00:30Z'), '30\n31\n');
    assert.equal(await world.read('sinceSeconds=30'), '30\n31\n');
    assert.equal(await world.read('sinceSeconds=30&tailLines=1'), '31\n');
  });

  test('that is of no known form says so', async () => {
    writeFileSync(path, 'hello\n');
    assert.equal(await world.read(), 'failed to get parse function: unsupported log format: "hello\\n"');
  });

  test('that cannot be opened fails before the answer begins', async () => {
    const missing = join(folder, 'no');
    await assert.rejects(world.reader.prepare(missing), {
      message: `failed to try resolving symlinks in path "${missing}": lstat ${missing}: no such file or directory`,
    });
    await assert.rejects(world.reader.prepare(folder), { kind: 'denied' });
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await assert.rejects(world.reader.prepare(pipe), { kind: 'denied' });
    const link = join(folder, 'link');
    symlinkSync(path, link);
    assert.equal(await world.reader.prepare(link), path);
  });
});

describe('a log that is followed', () => {
  test('is given as it grows, and ends with its container', async () => {
    say('one');
    const client = world.follow();
    await world.clock.settle();
    assert.equal(client.text, 'one\n');
    say('two');
    await world.clock.advance(1_000);
    assert.equal(client.text, 'one\ntwo\n');
    say('three');
    world.running = false;
    appendFileSync(path, line('torn').slice(0, -1));
    await world.clock.advance(3_000);
    await client.done;
    assert.equal(client.text, 'one\ntwo\nthree\ntorn');
  });

  test('of a container that has ended is given at once', async () => {
    say('one', 'two');
    world.running = false;
    const client = world.follow('tailLines=1');
    await client.done;
    assert.equal(client.text, 'two\n');
  });

  test('begins at its end for tailLines=0, and ends at the limit', async () => {
    say('one');
    const client = world.follow('tailLines=0&limitBytes=6');
    await world.clock.settle();
    say('two', 'three', 'four');
    await world.clock.advance(1_000);
    await client.done;
    assert.equal(client.text, 'two\nth');
  });

  test('is read when there is a hint about it, and not about its neighbours', async () => {
    const client = world.follow();
    await world.clock.advance(150);
    say('one');
    world.watched[0]?.('1.log');
    await world.clock.settle();
    assert.equal(client.text, '');
    world.watched[0]?.('0.log');
    await world.clock.settle();
    assert.equal(client.text, 'one\n');
    // The next hint waits until it is worth it.
    say('two');
    world.watched[0]?.('0.log');
    await world.clock.advance(50);
    assert.equal(client.text, 'one\n');
    await world.clock.advance(50);
    assert.equal(client.text, 'one\ntwo\n');
    client.stop.abort(new TubeletError('cancelled', 'gone'));
    await assert.rejects(client.done, { kind: 'cancelled' });
    assert.equal(world.clock.pending(), 0);
  });

  test('is not made dearer by a hint for each of many lines', async (t) => {
    const client = world.follow();
    await world.clock.settle();
    const after = t.mock.method(world.clock, 'after');
    for (let n = 0; n < 100; n++) {
      say('one');
      world.watched[0]?.('0.log');
    }
    assert.deepEqual(
      after.mock.calls.map(({ arguments: [ms] }) => ms),
      [100],
    );
    await world.clock.advance(100);
    assert.equal(client.text, 'one\n'.repeat(100));
    client.stop.abort();
    await assert.rejects(client.done);
  });

  test('goes on when it is emptied in place', async () => {
    say('one', 'two');
    const client = world.follow();
    await world.clock.settle();
    truncateSync(path);
    say('new');
    await world.clock.advance(1_000);
    assert.equal(client.text, 'one\ntwo\nnew\n');
    client.stop.abort();
    await assert.rejects(client.done);
  });

  test('ends when it is removed with its container', async () => {
    say('one');
    const client = world.follow();
    await world.clock.settle();
    unlinkSync(path);
    world.running = false;
    await world.clock.advance(2_000);
    await client.done;
    assert.equal(client.text, 'one\n');
  });

  test('goes on while the runtime cannot say whether its container runs', async () => {
    const reader = new ContainerLogReader({
      clock: world.clock,
      log: world.log,
      files: { ...hostLogFiles, watch: () => () => {} },
      sources: { isRunning: () => Promise.reject(new TubeletError('unavailable', 'no runtime')) },
    });
    const stop = new AbortController();
    let ended = false;
    const options = { follow: true, previous: false, timestamps: false };
    const done = reader
      .send({ path, id, named: {}, options }, { write: async () => {} }, stop.signal)
      .finally(() => (ended = true));
    done.catch(() => {});
    await world.clock.advance(5_000);
    assert.equal(ended, false);
    stop.abort();
    await assert.rejects(done);
  });
});

describe('a rotation', () => {
  test('loses nothing and repeats nothing', async () => {
    say('a1');
    const client = world.follow();
    await world.clock.settle();
    const aside = rotatedPath();
    renameSync(path, aside);
    // Until it reopens the log, the runtime writes into the old file.
    appendFileSync(aside, line('a2'));
    await world.clock.advance(1_000);
    assert.equal(client.text, 'a1\na2\n');
    writeFileSync(path, '');
    await world.clock.advance(1_000);
    // And even for a moment after the new file is there.
    appendFileSync(aside, line('a3'));
    await world.clock.advance(1_000);
    appendFileSync(aside, line('a4'));
    say('b1');
    await world.clock.advance(1_000);
    say('b2');
    await world.clock.advance(1_000);
    assert.equal(client.text, 'a1\na2\na3\na4\nb1\nb2\n');
    world.running = false;
    await world.clock.advance(1_000);
    await client.done;
  });

  test('and several between two rounds are followed in order', async () => {
    say('a');
    const client = world.follow();
    await world.clock.settle();
    for (const name of ['b', 'c', 'd', 'e']) {
      rotate();
      say(name);
    }
    await world.clock.advance(1_000);
    assert.equal(client.text, 'a\nb\nc\nd\ne\n');
    assert.equal(world.opened.now, 1);
    client.stop.abort();
    await assert.rejects(client.done);
  });

  test('whose files are compressed is logged, and the rest goes on', async () => {
    say('a');
    const client = world.follow();
    await world.clock.settle();
    const a = rotate();
    say('b');
    const b = rotate();
    say('c');
    rotate();
    say('d');
    compress(a);
    compress(b);
    await world.clock.advance(1_000);
    assert.equal(client.text, 'a\nc\nd\n');
    assert.equal(world.log.messages('warn').length, 1);
    assert.deepEqual(world.log.entries.find(({ severity }) => severity === 'warn')?.fields, { path: `${b}.gz` });
    client.stop.abort();
    await assert.rejects(client.done);
  });

  test('of a container that ended meanwhile is read to the end', async () => {
    say('a');
    const client = world.follow();
    await world.clock.settle();
    rotate();
    say('b');
    rotate();
    world.running = false;
    await world.clock.advance(1_000);
    await client.done;
    assert.equal(client.text, 'a\nb\n');
  });
});

test('many followers of one log share a watch and the question whether it runs', async () => {
  const clients = Array.from({ length: 200 }, () => world.follow());
  await world.clock.settle();
  assert.equal(world.watched.length, 1);
  assert.deepEqual(world.reader.load, { folders: 1, containers: 1 });
  const before = world.asked;
  await world.clock.advance(5_000);
  assert.ok(world.asked - before <= 6, String(world.asked - before));
  for (let round = 0; round < 5; round++) {
    say(`round ${round}`);
    if (round === 2) rotate();
    await world.clock.advance(1_000);
  }
  world.running = false;
  await world.clock.advance(2_000);
  await Promise.all(clients.map(({ done }) => done));
  for (const { text } of clients) assert.equal(text, [0, 1, 2, 3, 4].map((round) => `round ${round}\n`).join(''));
});

test('a watch of the machine brings lines without a clock', async () => {
  const reader = new ContainerLogReader({
    clock: world.clock,
    log: world.log,
    files: hostLogFiles,
    sources: { isRunning: async () => true },
  });
  const stop = new AbortController();
  let seen = (): void => {};
  // The watch does not keep the process alive, so the deadline does.
  const cancel = systemClock().after(30_000, () => stop.abort());
  const arrived = new Promise<void>((resolve) => (seen = resolve));
  const options = { follow: true, previous: false, timestamps: false };
  const done = reader.send({ path, id, named: {}, options }, { write: async () => seen() }, stop.signal);
  done.catch(() => {});
  await world.clock.advance(500);
  say('one');
  await Promise.race([arrived, done]);
  cancel();
  stop.abort();
  await assert.rejects(done);
  assert.deepEqual(reader.load, { folders: 0, containers: 0 });
});
