import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Heartbeats } from '../../base/heartbeats.ts';
import { silentLog } from '../../base/log.ts';
import { podUid } from '../../base/ids.ts';
import { CreateContainerRequest, RunPodSandboxRequest } from '../../gen/cri/api.ts';
import { nodeLogFiles } from '../../host/index.ts';
import { createFakeCri, fileLogs } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { anInstance, observedPod, testImage } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { containerLogsOf } from './container-log.ts';
import { parseLogLine } from './cri-log-line.ts';
import { LogRotation } from './log-rotation.ts';
import { readLogTail } from './read-log-tail.ts';

test('the log of a container in a runtime is rotated on a real disk, and every line of it is kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-rotation-'));
  const clock = new FakeClock();
  const cri = createFakeCri({ clock, logs: fileLogs });
  cri.images.add(testImage);
  const config = { metadata: { name: 'web', uid: 'u', namespace: 'default', attempt: 0 }, logDirectory: folder };
  const { podSandboxId } = await cri.runPodSandbox(RunPodSandboxRequest.fromPartial({ config }));
  const container = { metadata: { name: 'main', attempt: 0 }, image: { image: testImage }, logPath: 'main/0.log' };
  const { containerId } = await cri.createContainer(
    CreateContainerRequest.fromPartial({ podSandboxId, config: container, sandboxConfig: config }),
  );
  await cri.startContainer({ containerId });
  const { status } = await cri.containerStatus({ containerId, verbose: false });
  const path = status?.logPath ?? '';
  const logs = containerLogsOf(observedPod([], [anInstance('main', { id: containerId, logPath: path })]));
  /** Resolves when so many files have been replaced by their compressed form. */
  let check = (): void => {};
  let replaced = 0;
  const compressed = (count: number): Promise<void> =>
    new Promise((resolve) => {
      check = () => replaced >= count && resolve();
      check();
    });
  const remove = async (file: string): Promise<void> => {
    await nodeLogFiles.remove(file);
    if (/-\d{6}$/.test(file)) replaced++;
    check();
  };
  const rotation = new LogRotation({
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log: silentLog,
    logs: { all: () => logs, of: () => logs },
    files: { ...nodeLogFiles, remove },
    watch: nodeLogFiles,
    runtime: cri,
    limits: { maxSize: 10_000, maxFiles: 4, maxWorkers: 2, monitorIntervalMs: 10_000 },
  });
  await rotation.start();
  rotation.changed(podUid('u'));
  const files = (): readonly string[] => readdirSync(join(folder, 'main')).toSorted();
  const contents = (name: string): Buffer => {
    const raw = readFileSync(join(folder, 'main', name));
    return name.endsWith('.gz') ? gunzipSync(raw) : raw;
  };

  try {
    let said = 0;
    for (let round = 1; round <= 3; round++) {
      // About 13 KB with the prefixes.
      const lines = Array.from(
        { length: 200 },
        () => ({ stream: 'stdout', text: `line ${said++} ${'x'.repeat(10)}` }) as const,
      );
      cri.say(containerId, ...lines);
      await clock.advance(10_000);
      // Compression goes on in other threads, in its own time; the next rotation would break it off.
      await compressed(round - 1);
    }
    assert.deepEqual(
      files().map((name) => name.replace(/\d{8}-\d{6}/, '*')),
      ['0.log', '0.log.*.gz', '0.log.*.gz', '0.log.*'],
    );
    const [current = '', ...rotated] = files();
    const texts = [...rotated, current]
      .flatMap((name) => contents(name).toString().split('\n'))
      .filter((line) => line !== '')
      .map((line) => parseLogLine(Buffer.from(line))?.content.toString().split(' ')[1]);
    assert.deepEqual(
      texts,
      Array.from({ length: said }, (_, index) => String(index)),
    );
    assert.equal(cri.calls.filter(({ verb }) => verb === 'reopenContainerLog').length, 3);
    const tail = (await readLogTail(path, { lines: 2, bytes: 2_048 }, nodeLogFiles)).toString();
    assert.match(tail, /^line 598 x+\nline 599 x+\n$/);

    await rotation.remove(path);
    assert.deepEqual(files(), []);
  } finally {
    await rotation.stop();
    rmSync(folder, { recursive: true });
  }
  assert.equal(existsSync(folder), false);
  assert.equal(clock.pending(), 0);
});
