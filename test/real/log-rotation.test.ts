import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { noCalls } from '../../src/base/calls.ts';
import { Heartbeats } from '../../src/base/heartbeats.ts';
import { podUid } from '../../src/base/ids.ts';
import { silentLog } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { connectCri, type Cri } from '../../src/cri/index.ts';
import { CreateContainerRequest, RunPodSandboxRequest } from '../../src/gen/cri/api.ts';
import { nodeLogFiles } from '../../src/host/index.ts';
import {
  containerLogsOf,
  LogRotation,
  parseLogLine,
  readLogTail,
  type ContainerLog,
} from '../../src/pods/logs/index.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { anInstance, observedPod } from '../../src/testing/pods.ts';
import { startPrivateRuntime, type PrivateRuntime } from '../../src/testing/private-runtime.ts';
import { realFolder, type RealFolder } from '../support/real-folders.ts';
import { clock, until } from '../support/real-wait.ts';

const limits = { maxSize: 1024 * 1024, maxFiles: 4, maxWorkers: 1, monitorIntervalMs: 10_000 };
const sampleMs = 3;
const portions = 200;
/** A line has some 90 bytes with its prefix. */
const portion = 1_500;
const fullLine = 47;
const portionsPerSecond = 40;
/** Five million bytes in a second. When a busy machine keeps it waiting, it makes up for two portions at most. */
const writer = `
function now(  line) { getline line < "/proc/uptime"; close("/proc/uptime"); split(line, parts, " "); return parts[1] }
BEGIN {
  due = now()
  for (done = 0; done < ${portions}; done++) {
    due += 1 / ${portionsPerSecond}
    if (now() > due + 2 / ${portionsPerSecond}) due = now()
    while (now() < due) system("usleep 5000")
    for (k = 0; k < ${portion}; k++) printf "%08d abcdefghijklmnopqrstuvwxyzabcdefghijkl\\n", n++
    fflush()
  }
  print "the end"
}`;

let folder: RealFolder;
let runtime: PrivateRuntime;
let cri: Cri;
before(async () => {
  folder = await realFolder('logs');
  runtime = await startPrivateRuntime({ root: folder.root, log: silentLog, clock });
  cri = connectCri({
    calls: noCalls,
    endpoint: runtime.endpoint,
    clock,
    log: silentLog,
    timeouts: { requestMs: 120_000 },
  });
});
after(async () => {
  cri?.close();
  await folder?.remove();
});

/** A container that runs a script; answers its log as the agent would observe it. */
async function run(name: string, script: string): Promise<ContainerLog> {
  const config = {
    metadata: { name, uid: name, namespace: 'default', attempt: 0 },
    logDirectory: join(folder.path, 'logs', name),
    linux: { cgroupParent: `${runtime.cgroupRoot}/pod-${name}` },
  };
  const { podSandboxId } = await cri.runPodSandbox(RunPodSandboxRequest.fromPartial({ config }));
  const container = {
    metadata: { name: 'main', attempt: 0 },
    image: { image: runtime.images.busybox },
    command: ['sh', '-c', script],
    logPath: 'main/0.log',
  };
  const { containerId } = await cri.createContainer(
    CreateContainerRequest.fromPartial({ podSandboxId, config: container, sandboxConfig: config }),
  );
  await cri.startContainer({ containerId });
  const { status } = await cri.containerStatus({ containerId, verbose: false });
  const instance = anInstance('main', { id: containerId, logPath: status?.logPath ?? '' });
  const [log] = containerLogsOf(observedPod([], [instance], name));
  assert.ok(log !== undefined);
  return log;
}

/** The largest that any file of the log was, by many looks, until the container has said its last word. */
async function watchUntilEnd(log: ContainerLog): Promise<{ readonly largest: number; readonly most: number }> {
  const folder = join(log.path, '..');
  const deadline = clock.monotonic() + 60_000;
  let [largest, most] = [0, 0];
  for (let sample = 0; clock.monotonic() < deadline; sample++) {
    const names = readdirSync(folder);
    // For a moment a file is there in both forms.
    most = Math.max(most, new Set(names.map((name) => name.replace(/\.(gz|tmp)$/, ''))).size);
    for (const name of names) {
      largest = Math.max(largest, statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
    }
    const end = sample % 50 === 0 ? await readLogTail(log.path, { lines: 1, bytes: 100 }, nodeLogFiles) : '';
    if (end.toString() === 'the end\n') return { largest, most };
    await clock.sleep(sampleMs);
  }
  throw new Error(`the container did not come to its end: ${readdirSync(folder).join(' ')}`);
}

/** Everything that is kept of what the program wrote, the oldest line first. */
function keptLines(log: ContainerLog): readonly string[] {
  const folder = join(log.path, '..');
  const [current = '', ...rotated] = readdirSync(folder).toSorted();
  const texts = [...rotated, current].flatMap((name) => {
    const raw = readFileSync(join(folder, name));
    const lines = (name.endsWith('.gz') ? gunzipSync(raw) : raw).toString().split('\n');
    assert.equal(lines.pop(), '', `${name} ends with a whole line`);
    return lines.map((text) => {
      const line = parseLogLine(Buffer.from(text));
      assert.ok(line !== undefined, `${name}: ${text}`);
      // The runtime may divide a line of the program between two files; it says so.
      return line.content.toString() + (line.partial ? '' : '\n');
    });
  });
  const [first = '', ...lines] = texts.join('').trimEnd().split('\n');
  // The beginning of the first may have gone with the file before.
  return first.length === fullLine ? [first, ...lines] : lines;
}

describe('the log of a container that writes 5 MB in a second', () => {
  for (const [name, lead] of [
    ['at-once', ''],
    // The first lines come after the log has been found quiet.
    ['after-silence', 'sleep 3; '],
  ] as const) {
    test(`${name} stays below twice its limit, whole and in order`, async () => {
      const lines = new MemoryLog();
      const logs: ContainerLog[] = [];
      const rotation = new LogRotation({
        heartbeats: new Heartbeats(),
        clock,
        random: systemRandom(),
        log: lines,
        logs: { all: () => logs, of: () => logs },
        files: nodeLogFiles,
        watch: nodeLogFiles,
        runtime: cri,
        limits,
      });
      await rotation.start();
      try {
        logs.push(await run(name, `${lead}exec awk '${writer}'`));
        rotation.changed(podUid(name));
        const [log] = logs;
        assert.ok(log !== undefined);
        const { largest, most } = await watchUntilEnd(log);
        assert.ok(largest < 2 * limits.maxSize, `a file had ${largest} bytes`);
        assert.ok(largest >= limits.maxSize, 'it was rotated no sooner than it had to be');
        assert.ok(most <= limits.maxFiles, `there were ${most} files`);
        const inFolder = (): readonly string[] => readdirSync(join(log.path, '..')).toSorted();
        await until(
          'all but the newest are compressed',
          () => inFolder().filter((one) => one.endsWith('.gz')).length === 2,
          {
            state: inFolder,
          },
        );
        await until('nothing is under way', () => inFolder().length === limits.maxFiles, { state: inFolder });

        const kept = [...keptLines(log)];
        assert.equal(kept.pop(), 'the end');
        const first = portions * portion - kept.length;
        assert.deepEqual(
          kept.map((text) => (text.length === fullLine ? Number(text.slice(0, 8)) : text)),
          Array.from(kept, (_, index) => first + index),
        );
        assert.ok(kept.length > 20_000, `${kept.length} lines`);
        assert.deepEqual(lines.messages('error'), []);
      } finally {
        await rotation.stop();
      }
    });
  }
});
