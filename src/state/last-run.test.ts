import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../base/log.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { TubeletError } from '../base/errors.ts';
import { classifyLastRun, parseFatalError, parseMarker, type RunMarker, type RunRemains } from './last-run.ts';
import { RunMarkerFile, type MarkerDisk } from './run-marker.ts';

const marker: RunMarker = {
  pid: 7,
  startTicks: 1,
  startedAt: '2026-01-01T00:00:00.000Z',
  bootId: 'boot-1',
  uptimeSeconds: 60,
  heapLimitMb: 1024,
  phase: 'running',
};
const outOfHeap = { pid: 7, trigger: 'OOMError', event: 'Allocation failed - JavaScript heap out of memory' };
const bare: RunRemains = {
  marker,
  isRunning: false,
  fatalError: undefined,
  bootId: 'boot-1',
  killedByKernel: undefined,
};

const table: readonly (readonly [string, Partial<RunRemains>, string, RegExp | undefined])[] = [
  ['nothing is left', { marker: undefined }, 'stopped', undefined],
  ['a report without a marker is no evidence', { marker: undefined, fatalError: outOfHeap }, 'stopped', undefined],
  ['the engine ran out of heap', { fatalError: outOfHeap }, 'heapExhausted', /limit was 1024 MiB/],
  ['a report of another process', { fatalError: { ...outOfHeap, pid: 8 } }, 'unknown', /there is no evidence which\.$/],
  [
    'another fatal error',
    { fatalError: { pid: 7, trigger: 'FatalError', event: 'a\nb' } },
    'fatalError',
    /fatal error of the engine: a b$/,
  ],
  ['another boot', { bootId: 'boot-2' }, 'machineRestarted', /when the machine restarted$/],
  ['it is not known which boot', { bootId: '' }, 'unknown', undefined],
  ['that process is there', { isRunning: true, fatalError: outOfHeap }, 'stillRunning', /still runs/],
  ['the kernel says so', { killedByKernel: true }, 'killedByKernel', /out-of-memory killer/],
  ['the kernel does not say so', { killedByKernel: false }, 'unknown', /names no out-of-memory kill of it\.$/],
  ['a stop that did not end', { marker: { ...marker, phase: 'stopping' } }, 'stopCutOff', /asked to stop/],
];
for (const [name, remains, kind, message] of table) {
  test(`${name}: ${kind}`, () => {
    const found = classifyLastRun({ ...bare, ...remains });
    assert.equal(found.kind, kind);
    if (message !== undefined) assert.match(found.kind === 'stopped' ? '' : found.message, message);
  });
}

test('anything but a report or a marker is ignored', () => {
  const report = JSON.stringify({ header: { processId: 7, trigger: 'OOMError', event: outOfHeap.event } });
  assert.deepEqual(parseFatalError(report), outOfHeap);
  for (const text of ['', '{"header":', 'null', '[]', '{"header":{"processId":"7"}}'])
    assert.equal(parseFatalError(text), undefined, text);
  assert.deepEqual(parseMarker(JSON.stringify(marker)), marker);
  for (const text of ['', 'null', '{}', '{"pid":1}']) assert.equal(parseMarker(text), undefined, text);
});

class MemoryDisk implements MarkerDisk {
  readonly files = new Map<string, string>();

  async read(path: string): Promise<string> {
    const text = this.files.get(path);
    if (text === undefined) throw new TubeletError('notFound', path);
    return text;
  }

  async replace(path: string, text: string): Promise<void> {
    this.files.set(path, text);
  }

  async remove(path: string): Promise<void> {
    this.files.delete(path);
  }
}

const paths = { path: '/marker', fatalErrorPath: '/report' };
const { phase: _phase, ...self } = marker;

test('a run that stops leaves nothing, one that does not is detected by the next', async () => {
  const disk = new MemoryDisk();
  const run = (pid: number) =>
    new RunMarkerFile({
      log: silentLog,
      disk,
      ...paths,
      self: { ...self, pid },
      isRunning: () => false,
      killedByKernel: () => undefined,
    });
  const first = run(7);
  assert.deepEqual(await first.begin(), { kind: 'stopped' });
  await first.stopping();
  await first.end();
  assert.deepEqual([...disk.files], []);
  const second = run(8);
  assert.deepEqual(await second.begin(), { kind: 'stopped' });
  const third = run(9);
  disk.files.set('/report', JSON.stringify({ header: { processId: 8, trigger: 'OOMError', event: 'e' } }));
  assert.equal((await third.begin()).kind, 'heapExhausted');
  // The report holds the environment: it does not stay.
  assert.deepEqual([...disk.files.keys()], ['/marker']);
  await third.stopping();
  assert.equal((await run(10).begin()).kind, 'stopCutOff');
});

test('a disk that fails is logged, and the run continues', async () => {
  const log = new MemoryLog();
  const fails = async (): Promise<never> => {
    throw new TubeletError('denied', 'read-only');
  };
  const disk = { read: fails, replace: fails, remove: fails };
  const file = new RunMarkerFile({
    log,
    disk,
    ...paths,
    self,
    isRunning: () => false,
    killedByKernel: () => undefined,
  });
  assert.deepEqual(await file.begin(), { kind: 'stopped' });
  await file.end();
  assert.ok(log.entries.length > 0);
});

test('the files of an agent that still runs are left to it', async () => {
  const disk = new MemoryDisk();
  disk.files.set('/marker', JSON.stringify(marker));
  const killedByKernel = () => undefined;
  const file = new RunMarkerFile({ log: silentLog, disk, ...paths, self, isRunning: () => true, killedByKernel });
  assert.equal((await file.begin()).kind, 'stillRunning');
  await file.stopping();
  await file.end();
  assert.deepEqual([...disk.files], [['/marker', JSON.stringify(marker)]]);
});
