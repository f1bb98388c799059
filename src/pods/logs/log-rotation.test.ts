import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { TubeletError } from '../../base/errors.ts';
import { containerId, podUid } from '../../base/ids.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLogDisk } from '../../testing/memory-log-disk.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import type { ContainerLog } from './container-log.ts';
import { LogRotation, type LogSettings } from './log-rotation.ts';

const mebi = 1024 * 1024;
const uid = podUid('u');

/** Containers that write on a disk in memory, and the rotation of their logs. */
class World {
  readonly clock = new FakeClock();
  readonly disk = new MemoryLogDisk();
  readonly log = new MemoryLog();
  readonly running = new Map<string, ContainerLog>();
  readonly reopened: string[] = [];
  /** Times of checks by path. */
  readonly checks: { readonly path: string; readonly at: number }[] = [];
  /** What happens to a reopen before it is done, and after. */
  before: () => void | Promise<void> = () => {};
  after: () => void = () => {};
  readonly rotation: LogRotation;

  constructor(limits: Partial<LogSettings> = {}) {
    this.disk.fault = (operation, path) => {
      if (operation === 'size') this.checks.push({ path, at: this.clock.monotonic() });
    };
    this.rotation = new LogRotation({
      heartbeats: new Heartbeats(),
      clock: this.clock,
      random: seededRandom(1),
      log: this.log,
      logs: { all: () => this.running.values(), of: () => this.running.values() },
      files: this.disk,
      watch: this.disk,
      runtime: {
        reopenContainerLog: async ({ containerId: id }) => {
          await this.before();
          this.reopened.push(id);
          this.disk.reopen(`/logs/${id}/0.log`);
          this.after();
        },
      },
      limits: { maxSize: mebi, maxFiles: 3, maxWorkers: 1, monitorIntervalMs: 10_000, ...limits },
    });
  }

  start(name: string): string {
    const path = `/logs/${name}/0.log`;
    const pod = { uid, name: 'web', namespace: 'default' };
    this.running.set(name, { id: containerId(name), container: 'main', pod, path, running: true });
    this.disk.reopen(path);
    return path;
  }

  end(name: string): void {
    const log = this.running.get(name);
    if (log !== undefined) this.running.set(name, { ...log, running: false });
    this.rotation.changed(uid);
  }

  /** Writes at a rate for a while, in small pieces. */
  async write(path: string, bytesPerSecond: number, ms: number): Promise<void> {
    const pieceMs = 5;
    for (let at = 0; at < ms; at += pieceMs) {
      this.disk.write(path, (bytesPerSecond * pieceMs) / 1_000);
      await this.clock.advance(pieceMs);
    }
  }

  names(path: string): readonly string[] {
    return [...this.disk.files.keys()].filter((name) => name.startsWith(path)).map((name) => name.slice(path.length));
  }
}

/** Blocks its waiters until it is opened. */
class Gate {
  open: () => void = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

async function within(world: World, run: () => Promise<void>): Promise<void> {
  await world.rotation.start();
  await world.clock.settle();
  try {
    await run();
  } finally {
    await world.rotation.stop();
  }
  assert.equal(world.clock.pending(), 0);
  assert.equal(world.disk.watching, 0);
}

describe('a fast logger', () => {
  for (const [rate, limit] of [
    [5 * mebi, mebi],
    [60 * mebi, 10 * mebi],
    [20 * mebi, mebi],
  ] as const) {
    test(`of ${rate / mebi} MiB/s never exceeds twice a limit of ${limit / mebi} MiB`, async () => {
      const world = new World({ maxSize: limit });
      const path = world.start('a');
      await within(world, async () => {
        await world.write(path, rate, 2_000);
        assert.ok((world.disk.largest.get(path) ?? 0) < 2 * limit, `${world.disk.largest.get(path)}`);
        assert.ok(world.reopened.length >= 3, `${world.reopened.length} rotations`);
        assert.ok(world.names(path).length <= 3, world.names(path).join());
        const kept = world.disk.kept(path);
        assert.deepEqual(
          kept,
          Array.from(kept, (_, index) => (kept[0] ?? 0) + index),
        );
      });
    });
  }

  test('that begins after long silence is noticed at its first write', async () => {
    const world = new World();
    const path = world.start('a');
    await within(world, async () => {
      await world.clock.advance(55_000);
      await world.write(path, 5 * mebi, 1_000);
      assert.ok((world.disk.largest.get(path) ?? 0) < 2 * mebi);
    });
  });

  test('that was just started is checked when its pod changed', async () => {
    const world = new World();
    await within(world, async () => {
      await world.clock.advance(1_000);
      const path = world.start('late');
      world.rotation.changed(uid);
      await world.write(path, 10 * mebi, 1_000);
      assert.ok((world.disk.largest.get(path) ?? 0) < 2 * mebi);
    });
  });
});

describe('quiet logs', () => {
  test('are checked once per round, all together, and no timer is due in between', async () => {
    const world = new World();
    for (const name of ['a', 'b', 'c']) world.start(name);
    await within(world, async () => {
      await world.clock.advance(30_500);
      assert.deepEqual(
        world.checks.map(({ at }) => at),
        [0, 10_000, 20_000, 30_000].flatMap((at) => [at, at, at]),
      );
      assert.equal(world.clock.pending(), 1);
      assert.equal(world.disk.watching, 3);
    });
  });

  test('come to rest again after a line or two', async () => {
    const world = new World();
    const path = world.start('a');
    await within(world, async () => {
      await world.clock.advance(12_000);
      world.disk.write(path, 80);
      await world.clock.advance(2_000);
      assert.equal(world.disk.watching, 1);
      assert.ok(world.checks.length < 8, `${world.checks.length} checks`);
      assert.equal(world.clock.nextDue(), 20_000);
    });
  });

  test('that only seem to change do not make it busy', async () => {
    const world = new World();
    const path = world.start('a');
    await within(world, async () => {
      for (let at = 0; at < 1_000; at += 10) {
        world.disk.write(path, 0);
        await world.clock.advance(10);
      }
      assert.ok(world.checks.length < 40, `${world.checks.length} checks`);
    });
  });
});

describe('what goes wrong', () => {
  test('a failed reopen puts the file back; it is retried and logged once', async () => {
    const world = new World();
    const path = world.start('a');
    world.disk.write(path, 2 * mebi);
    world.before = () => {
      throw new TubeletError('unavailable', 'no runtime');
    };
    await within(world, async () => {
      assert.deepEqual(world.names(path), ['']);
      await world.clock.advance(60_000);
      assert.deepEqual(world.names(path), ['']);
      assert.deepEqual(world.log.messages('error'), ['Cannot rotate a container log, will try again']);
      // Every second at first, then slower, and as often as the round at last.
      assert.deepEqual(world.checks.map(({ at }) => at).slice(0, 6), [0, 1_000, 3_000, 7_000, 15_000, 25_000]);
      world.before = () => {};
      await world.clock.advance(10_000);
      assert.equal(world.names(path).length, 2);
      assert.deepEqual(world.disk.kept(path), [0]);
    });
  });

  test('an answer that is lost after the deed costs no line of the new file', async () => {
    const world = new World();
    const path = world.start('a');
    world.disk.write(path, 2 * mebi);
    world.after = () => {
      world.disk.write(path, 10);
      world.after = () => {};
      throw new TubeletError('timeout', 'too late');
    };
    await within(world, async () => {
      assert.equal(world.names(path).length, 2);
      assert.deepEqual(world.disk.kept(path), [0, 1]);
      assert.deepEqual(world.log.messages('error'), []);
    });
  });

  test('a missing file is reopened; one that stays away is not asked for all the time', async () => {
    const world = new World();
    const path = world.start('a');
    world.disk.files.delete(path);
    await within(world, async () => {
      assert.deepEqual(world.reopened, ['a']);
      world.after = () => void world.disk.files.delete(path);
      world.disk.files.delete(path);
      await world.clock.advance(60_000);
      assert.ok(world.reopened.length < 12, `${world.reopened.length} times`);
    });
  });

  test('a runtime that hangs with one log holds up no other', async () => {
    const world = new World();
    const [a, b] = [world.start('a'), world.start('b')];
    world.disk.write(a, 2 * mebi);
    const gate = new Gate();
    world.before = () => {
      world.before = () => {};
      return gate.opened;
    };
    await within(world, async () => {
      await world.write(b, 5 * mebi, 500);
      assert.ok((world.disk.largest.get(b) ?? 0) < 2 * mebi);
      gate.open();
    });
  });

  test('a container that ends is let go', async () => {
    const world = new World();
    const path = world.start('a');
    await within(world, async () => {
      world.end('a');
      assert.equal(world.disk.watching, 0);
      world.disk.write(path, 3 * mebi);
      await world.clock.advance(30_000);
      assert.deepEqual(world.names(path), ['']);
    });
  });

  test('a size below nothing turns it off', async () => {
    const world = new World({ maxSize: -1 });
    world.disk.write(world.start('a'), 30 * mebi);
    await within(world, async () => {
      world.rotation.changed(uid);
      await world.clock.advance(60_000);
      assert.deepEqual(world.checks, []);
    });
  });
});

describe('compression', () => {
  test('is broken off by the next rotation, and nothing is left of it', async () => {
    const world = new World({ maxFiles: 4 });
    const path = world.start('a');
    const gate = new Gate();
    const before = world.disk.fault;
    world.disk.fault = (operation, at) => (operation === 'compress' ? gate.opened : before(operation, at));
    await within(world, async () => {
      await world.write(path, 5 * mebi, 900);
      assert.ok(world.names(path).some((name) => name.endsWith('.tmp')));
      assert.ok((world.disk.largest.get(path) ?? 0) < 2 * mebi);
      gate.open();
      world.disk.fault = before;
      await world.write(path, 5 * mebi, 1_000);
      const endings = world.names(path).map((name) => name.replace(/^\.\d{8}-\d{6}/, '.*'));
      assert.deepEqual(endings.toSorted(), ['', '.*', '.*.gz', '.*.gz']);
      assert.deepEqual(world.log.messages('error'), []);
    });
  });

  test('is broken off when the log is removed with its container', async () => {
    const world = new World();
    const path = world.start('a');
    world.start('b');
    const gate = new Gate();
    const before = world.disk.fault;
    world.disk.fault = (operation, at) => (operation === 'compress' ? gate.opened : before(operation, at));
    await within(world, async () => {
      await world.write(path, 5 * mebi, 600);
      assert.ok(world.names(path).some((name) => name.endsWith('.tmp')));
      world.end('a');
      await world.rotation.remove(path);
      gate.open();
      await world.clock.settle();
      assert.deepEqual([...world.disk.files.keys()], ['/logs/b/0.log']);
      assert.deepEqual(world.log.messages('error'), []);
    });
  });
});
