import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { containerId, podUid } from '../../base/ids.ts';
import { nodeLogFiles } from '../../host/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { anInstance, observedPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { containerLogsOf, linkName, type ContainerLog } from './container-log.ts';
import { LogLinks } from './log-links.ts';

const pod = { uid: podUid('u'), name: 'web', namespace: 'default' };
let base: string;
let folder: string;
let logs: Map<string, ContainerLog>;
let clock: FakeClock;
let log: MemoryLog;
let links: LogLinks;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'tubelet-links-'));
  folder = join(base, 'containers');
  logs = new Map();
  clock = new FakeClock();
  log = new MemoryLog();
  links = new LogLinks({
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log,
    logs: { all: () => logs.values(), of: () => logs.values() },
    files: nodeLogFiles,
    folder,
    podLogsDir: join(base, 'pods'),
  });
});
afterEach(async () => {
  await links.stop();
  assert.equal(clock.pending(), 0);
  rmSync(base, { recursive: true });
});

function addLog(name: string, more: Partial<ContainerLog> = {}): string {
  const path = join(base, 'pods', `default_web_u`, name, '0.log');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, name);
  logs.set(name, { id: containerId(`id-${name}`), container: name, pod, path, running: true, ...more });
  return path;
}

describe('the link to a log', () => {
  test('is named after pod, namespace, container and id', () => {
    assert.equal(linkName({ pod, container: 'main', id: containerId('abc') }), 'web_default_main-abc.log');
  });

  test('has a name that fits', () => {
    const name = linkName({ pod: { ...pod, name: 'p'.repeat(253) }, container: 'c', id: containerId('abc') });
    assert.equal(name.length, 255);
    assert.ok(name.startsWith('ppp') && name.endsWith('p.log'));
  });

  test('is there for what has come to run, as it was observed', () => {
    const observed = observedPod(
      [],
      [
        anInstance('runs', { logPath: '/l/runs' }),
        anInstance('ended', { logPath: '/l/ended', state: 'exited' }),
        anInstance('made', { logPath: '/l/made', state: 'created', startedAt: 0 }),
        anInstance('mute'),
      ],
    );
    assert.deepEqual(
      containerLogsOf(observed).map(({ path, running }) => [path, running]),
      [
        ['/l/runs', true],
        ['/l/ended', false],
      ],
    );
  });

  test('is made after a start, and leads to the log', async () => {
    await links.start();
    await clock.settle();
    assert.deepEqual(readdirSync(folder), []);
    addLog('main');
    links.changed(pod.uid);
    await clock.settle();
    assert.equal(readFileSync(join(folder, 'web_default_main-id-main.log'), 'utf8'), 'main');
  });

  test('is made by the round where no change was reported, and where the log came late', async () => {
    await links.start();
    await clock.settle();
    rmSync(addLog('late'));
    links.changed(pod.uid);
    await clock.settle();
    assert.deepEqual(readdirSync(folder), []);
    addLog('late');
    addLog('unreported');
    await clock.advance(60_000);
    assert.equal(readdirSync(folder).length, 2);
  });

  test('is set right where it leads elsewhere', async () => {
    await links.start();
    await clock.settle();
    const path = addLog('main');
    const link = join(folder, 'web_default_main-id-main.log');
    symlinkSync('/elsewhere', link);
    links.changed(pod.uid);
    await clock.settle();
    assert.equal(readlinkSync(link), path);
  });

  test('is not made where a file has its name', async () => {
    await links.start();
    await clock.settle();
    addLog('main');
    const file = join(folder, 'web_default_main-id-main.log');
    writeFileSync(file, 'mine');
    links.changed(pod.uid);
    await clock.settle();
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    assert.deepEqual(log.messages('error'), ['Cannot link a container log']);
  });

  test('is removed when its log was and its container does not run', async () => {
    const paths = ['a', 'b'].map((name) => addLog(name, { running: name === 'b' }));
    await links.start();
    await clock.settle();
    assert.equal(readdirSync(folder).length, 2);
    for (const path of paths) rmSync(path);
    await clock.advance(60_000);
    // That of b may be between two files.
    assert.deepEqual(readdirSync(folder), ['web_default_b-id-b.log']);
    logs.clear();
    await clock.advance(60_000);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('of others stays, dead or not', async () => {
    mkdirSync(folder);
    symlinkSync('/nowhere/0.log', join(folder, 'foreign_default_c-1.log'));
    symlinkSync(join(base, 'pods-of-others', '0.log'), join(folder, 'near_default_c-1.log'));
    writeFileSync(join(folder, 'file.log'), '');
    symlinkSync(join(base, 'pods', 'gone', '0.log'), join(folder, 'ours_default_c-1.log'));
    await links.start();
    await clock.settle();
    assert.deepEqual(readdirSync(folder).toSorted(), ['file.log', 'foreign_default_c-1.log', 'near_default_c-1.log']);
  });
});
