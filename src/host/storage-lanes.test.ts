import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { silentLog } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import type { ForeignMount } from './foreign-mounts.ts';
import type { MountEntry } from './mountinfo.ts';
import { StorageLanes, type StorageOutcome, type StorageWork } from './storage-lanes.ts';
import type { StorageAnswer, StorageRequest } from './storage-messages.ts';
import type { StorageProcess, StorageProcessEvents } from './storage-process.ts';

const nothing = (): void => undefined;
const mount = (name: string): ForeignMount => ({
  device: `dev-${name}`,
  mountPoint: `/mnt/${name}`,
  fsType: 'nfs4',
  source: `server:/${name}`,
});

/** A process that answers when the test releases its call. */
class ScriptedProcess implements StorageProcess {
  readonly asked: Extract<StorageRequest, { readonly id: number }>[] = [];
  readonly aborted: number[] = [];
  readonly events: StorageProcessEvents;
  isBusy = false;
  wasKilled = false;
  survives = false;

  constructor(events: StorageProcessEvents) {
    this.events = events;
  }

  send(request: StorageRequest): void {
    if ('abort' in request) this.aborted.push(request.abort);
    else this.asked.push(request);
  }

  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
  }

  kill(): void {
    this.wasKilled = true;
    if (!this.survives) this.events.onExit('SIGKILL');
  }

  answer(answer: StorageAnswer): void {
    this.events.onAnswer(answer);
  }

  answerLast(value?: unknown): void {
    const id = this.asked.at(-1)?.id ?? 0;
    this.answer(value === undefined ? { id } : { id, value });
  }
}

function setUp() {
  const clock = new FakeClock();
  const processes: ScriptedProcess[] = [];
  const table: { current: readonly Pick<MountEntry, 'device'>[] } = { current: [] };
  const counts = { answers: 0 };
  const lanes = new StorageLanes({
    clock,
    log: silentLog,
    start: async (events) => {
      const started = new ScriptedProcess(events);
      processes.push(started);
      return started;
    },
    mounts: () => table.current as readonly MountEntry[],
    own: () => new Set(['own']),
    onAnswer: () => void counts.answers++,
  });
  const run = (name: string, more: Partial<StorageWork> = {}): Promise<StorageOutcome> => {
    const outcome = lanes.run({
      chain: [mount(name)],
      kind: 'lookup',
      shown: `/mnt/${name}/x`,
      verb: 'stat',
      args: [`/mnt/${name}/x`],
      ...more,
    });
    outcome.catch(nothing);
    return outcome;
  };
  const turn = (): Promise<void> => clock.advance(0);
  const only = (): ScriptedProcess => {
    assert.equal(processes.length, 1);
    assert.ok(processes[0]);
    return processes[0];
  };
  return { clock, processes, table, counts, lanes, run, turn, only };
}

const hangs = (name: string) => ({
  kind: 'unavailable',
  message: `/mnt/${name}/x: the file system mounted on /mnt/${name} (nfs4, server:/${name}) does not answer`,
});

describe('calls on mounts that may hang', () => {
  test('are made one at a time on each mount, and side by side on several', async () => {
    const { run, turn, only } = setUp();
    const outcomes = [run('a'), run('a'), run('b')];
    await turn();
    const asked = (): readonly unknown[] => only().asked.map(({ args }) => args[0]);
    assert.deepEqual(asked(), ['/mnt/a/x', '/mnt/b/x']);
    assert.deepEqual(only().asked[0]?.cleared, ['own', 'dev-a']);
    only().answer({ id: only().asked[0]?.id ?? 0, value: 1 });
    await turn();
    assert.deepEqual(asked(), ['/mnt/a/x', '/mnt/b/x', '/mnt/a/x']);
    only().answer({ id: only().asked[1]?.id ?? 0, failed: { kind: 'denied', message: 'no' } });
    only().answer({ id: only().asked[2]?.id ?? 0, crossing: [mount('c')] });
    assert.deepEqual(await outcomes[0], { value: 1 });
    assert.deepEqual(await outcomes[1], { crossing: [mount('c')] });
    await assert.rejects(outcomes[2] ?? Promise.resolve(), { kind: 'denied', message: 'no' });
    await turn();
    assert.equal(only().isBusy, false);
  });

  test('that take too long are refused together with all that wait and come, and not made again before they end', async () => {
    const { clock, run, counts, only, lanes } = setUp();
    const waiting = [run('a'), run('a')];
    await clock.advance(4_999);
    const healthy = run('b');
    await clock.advance(1);
    for (const one of waiting) await assert.rejects(one, hangs('a'));
    await assert.rejects(run('a'), hangs('a'));
    await assert.rejects(run('a', { kind: 'tree' }), hangs('a'));
    // Also on the way to another one.
    await assert.rejects(run('c', { chain: [mount('a'), mount('c')], shown: '/mnt/a/x' }), hangs('a'));
    assert.deepEqual(lanes.hung(), [mount('a')]);
    only().answerLast(2);
    assert.deepEqual(await healthy, { value: 2 });
    assert.equal(only().asked.length, 2);
    assert.equal(counts.answers, 0);
    only().answer({ id: only().asked[0]?.id ?? 0, value: 'late' });
    assert.deepEqual([counts.answers, lanes.hung()], [1, []]);
    const again = run('a');
    await clock.advance(0);
    only().answerLast(3);
    assert.deepEqual(await again, { value: 3 });
  });

  test('to unmount are made although the mount hangs for lookups, and take longer before they hang', async () => {
    const { clock, run, only } = setUp();
    const lookup = run('a');
    await clock.advance(5_000);
    await assert.rejects(lookup, hangs('a'));
    const unmount = run('a', { kind: 'unmount', verb: 'unmount' });
    await clock.advance(59_999);
    only().answerLast();
    assert.deepEqual(await unmount, { value: undefined });
    const next = run('a', { kind: 'unmount', verb: 'unmount' });
    await clock.advance(60_000);
    await assert.rejects(next, hangs('a'));
  });

  test('on trees may take as long as they make progress', async () => {
    const { clock, run, only } = setUp();
    const seen: number[] = [];
    const tree = run('a', { kind: 'tree', verb: 'changeTree', processed: (count) => void seen.push(count) });
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(59_000);
      only().answer({ id: only().asked[0]?.id ?? 0, processed: 256 });
    }
    assert.deepEqual(seen, [256, 256, 256, 256, 256]);
    await clock.advance(60_000);
    await assert.rejects(tree, hangs('a'));
    // Lookups have a lane of their own.
    const lookup = run('a');
    await clock.advance(0);
    only().answerLast();
    await lookup;
  });

  test('on a tree that is given up end soon, whether the storage answers or not', async () => {
    const { clock, run, only } = setUp();
    const abort = new AbortController();
    const tree = run('a', { kind: 'tree', verb: 'changeTree', signal: abort.signal });
    await clock.advance(10_000);
    abort.abort(new Error('enough'));
    await clock.advance(0);
    assert.deepEqual(only().aborted, [only().asked[0]?.id]);
    await clock.advance(5_000);
    await assert.rejects(tree, hangs('a'));
  });
});

describe('the process that makes calls', () => {
  test('is started with the first, and again after it has ended', async () => {
    const { clock, run, processes, counts } = setUp();
    assert.equal(processes.length, 0);
    const [lost, hung] = [run('a'), run('b')];
    await clock.advance(0);
    processes[0]?.answer({ id: processes[0].asked[0]?.id ?? 0 });
    await lost;
    const other = run('c');
    await clock.advance(5_000);
    await assert.rejects(hung, hangs('b'));
    const running = run('d');
    await clock.advance(0);
    processes[0]?.events.onExit('exit status 1');
    await assert.rejects(running, { kind: 'unavailable', message: /the process that asked ended: exit status 1/ });
    await assert.rejects(other);
    assert.ok(counts.answers >= 1, 'what hung may be tried again');
    const again = run('b');
    await clock.advance(0);
    assert.equal(processes.length, 2);
    processes[1]?.answerLast('yes');
    assert.deepEqual(await again, { value: 'yes' });
  });

  test('that cannot be started fails calls and is tried again', async () => {
    const clock = new FakeClock();
    let tries = 0;
    const lanes = new StorageLanes({
      clock,
      log: silentLog,
      start: () => Promise.reject(new Error(`no memory ${++tries}`)),
      mounts: () => [],
      own: () => new Set(),
      onAnswer: nothing,
    });
    for (const count of [1, 2]) {
      const work = { chain: [mount('a')], kind: 'lookup', shown: '/x', verb: 'stat', args: [] } as const;
      await assert.rejects(lanes.run(work), {
        kind: 'unavailable',
        message: `/x: the process that asked ended: no memory ${count}`,
      });
    }
  });

  test('is replaced when a mount it hangs on was unmounted, but not before its other calls have ended', async () => {
    const { clock, run, processes, table, lanes } = setUp();
    table.current = [{ device: 'dev-a' }];
    const hung = run('a');
    await clock.advance(5_000);
    await assert.rejects(hung, hangs('a'));
    await clock.advance(10_000);
    assert.equal(processes.length, 1);
    const useful = run('b', { kind: 'unmount', verb: 'unmount' });
    table.current = [];
    await clock.advance(10_000);
    assert.equal(processes[0]?.wasKilled, false);
    processes[0]?.answerLast('done');
    assert.deepEqual(await useful, { value: 'done' });
    await clock.advance(0);
    assert.equal(processes[0]?.wasKilled, true);
    assert.deepEqual(lanes.hung(), []);
  });

  test('that cannot be killed is left alone, two of them at the utmost', async () => {
    const { clock, run, processes, table } = setUp();
    table.current = [];
    for (let count = 0; count < 5; count++) {
      const hung = run(`m${count}`);
      await clock.advance(0);
      const last = processes.at(-1);
      assert.ok(last);
      last.survives = true;
      await clock.advance(5_000);
      await assert.rejects(hung, hangs(`m${count}`));
      await clock.advance(10_000);
    }
    assert.equal(processes.length, 3);
    assert.deepEqual(
      processes.map(({ wasKilled }) => wasKilled),
      [true, true, false],
    );
  });

  test('is asked about so many mounts at one time, and the refusal names those that hang', async () => {
    const { clock, run, table } = setUp();
    table.current = Array.from({ length: 60 }, (_, index) => ({ device: `dev-m${index}` }));
    const first = Array.from({ length: 48 }, (_, index) => run(`m${index}`));
    await clock.advance(5_000);
    for (const [index, one] of first.entries()) await assert.rejects(one, hangs(`m${index}`));
    await assert.rejects(run('m48'), {
      kind: 'unavailable',
      message: /too many file systems do not answer: \/mnt\/m0, /,
    });
  });

  test('gets as many calls for one mount as it can wait for', async () => {
    const { run } = setUp();
    for (let index = 0; index < 1_025; index++) void run('a');
    await assert.rejects(run('a'), { kind: 'unavailable', message: /1024 others wait/ });
  });

  test('is killed at the end', async () => {
    const { clock, run, lanes, processes } = setUp();
    const open = run('a');
    await clock.advance(0);
    lanes.stop();
    await clock.advance(0);
    assert.equal(processes[0]?.wasKilled, true);
    await assert.rejects(open);
  });
});
