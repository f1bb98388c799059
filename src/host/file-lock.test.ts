import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { withTimeout } from '../base/abort.ts';
import { systemClock } from '../base/system-clock.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { acquireFileLock } from './file-lock.ts';
import { watchContention } from './lock-contention.ts';

function lockPath(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-lock-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'lock');
}

/** Descriptors of this process that are open on a path. */
function opened(path: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  }).length;
}

test('makes the file, holds the lock against others, and the next gets it on release', async (context) => {
  const path = lockPath(context);
  const clock = new FakeClock();
  const first = await acquireFileLock(path, { clock });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  let waits = 0;
  let second: Awaited<ReturnType<typeof acquireFileLock>> | undefined;
  const waiting = acquireFileLock(path, { clock, retryMs: 100, onWait: () => waits++ }).then((lock) => (second = lock));
  await clock.advance(1_000);
  assert.equal(second, undefined);
  assert.equal(waits, 1);
  await first.release();
  await first.release();
  await clock.advance(100);
  await waiting;
  assert.equal(clock.pending(), 0);
  await second!.release();
  assert.equal(opened(path), 0);
});

test('the wait can be given up and leaves no descriptor', async (context) => {
  const path = lockPath(context);
  const clock = new FakeClock();
  const lock = await acquireFileLock(path, { clock });
  const controller = new AbortController();
  const waiting = acquireFileLock(path, { clock, signal: controller.signal });
  await clock.settle();
  const reason = new Error('stop');
  controller.abort(reason);
  await assert.rejects(waiting, reason);
  assert.equal(opened(path), 1);
  await lock.release();
  await assert.rejects(acquireFileLock(path, { clock, signal: controller.signal }), reason);
});

test('keeps the lock from another process', async (context) => {
  const path = lockPath(context);
  const lock = await acquireFileLock(path, { clock: new FakeClock() });
  const tryLock = async (): Promise<number> => {
    const child = spawn('flock', ['--nonblock', '--conflict-exit-code', '9', path, 'true'], { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  };
  try {
    assert.equal(await tryLock(), 9);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    context.skip('needs the program flock');
    return;
  } finally {
    await lock.release();
  }
  assert.equal(await tryLock(), 0);
});

test('a missing folder is an error', async (context) => {
  await assert.rejects(acquireFileLock(`${lockPath(context)}/x`, { clock: new FakeClock() }), { code: 'ENOENT' });
});

/** What a watch reports first after `act`. A signal alone does not keep a process running; the deadline does. */
async function reportedAfter(path: string, seen: string[], act: () => void): Promise<string> {
  return withTimeout(
    systemClock(),
    20_000,
    () =>
      new Promise<string>((resolve, reject) => {
        const report = (what: string) => {
          seen.push(what);
          resolve(what);
        };
        watchContention(path, report).then(act, reject);
      }),
  );
}

test('reports opening once', async (context) => {
  const path = lockPath(context);
  const lock = await acquireFileLock(path, { clock: new FakeClock() });
  const seen: string[] = [];
  const openIt = () => closeSync(openSync(path, 'r'));
  assert.equal(await reportedAfter(path, seen, openIt), 'opened');
  openIt();
  await new Promise(setImmediate);
  assert.deepEqual(seen, ['opened']);
  assert.equal(process.listenerCount('SIGIO'), 0);
  await lock.release();
});

test('reports deletion, and nothing once closed', async (context) => {
  const path = lockPath(context);
  closeSync(openSync(path, 'w'));
  const quiet = await watchContention(path, () => assert.fail('reported after close'));
  quiet.close();
  quiet.close();
  assert.equal(await reportedAfter(path, [], () => unlinkSync(path)), 'deleted');
  assert.equal(process.listenerCount('SIGIO'), 0);
});

test('a missing file cannot be watched', async (context) => {
  await assert.rejects(
    watchContention(lockPath(context), () => {}),
    { kind: 'notFound' },
  );
  assert.equal(process.listenerCount('SIGIO'), 0);
});
