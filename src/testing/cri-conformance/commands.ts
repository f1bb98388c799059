import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { commands } from './subject.ts';
import { ofKind, type Examine } from './world.ts';

const logLine = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([FP])(?::\S*)? (.*)$/;

export function commandTests(examine: Examine): void {
  examine('a command gives its output and exit code', async (world) => {
    const containerId = await world.start(await world.runPod(), 'sleeper');
    const failed = await world.subject.cri.execSync({ containerId, cmd: [...commands.fails], timeout: 20n });
    assert.equal(failed.exitCode, 7);
    assert.equal(failed.stdout.toString(), 'out\n');
    assert.equal(failed.stderr.toString(), 'err\n');
    const done = await world.subject.cri.execSync({ containerId, cmd: [...commands.succeeds], timeout: 20n });
    assert.deepEqual([done.exitCode, done.stdout.length, done.stderr.length], [0, 0, 0]);
  });

  examine('a command that takes too long times out', async (world) => {
    const containerId = await world.start(await world.runPod(), 'sleeper');
    const call = world.subject.cri.execSync({ containerId, cmd: [...commands.lingers], timeout: 1n });
    if (world.has('commands do not fail')) {
      const { exitCode, stderr } = await call;
      assert.deepEqual([exitCode, stderr.toString()], [-1, 'command timed out']);
    } else await assert.rejects(call, ofKind('timeout'));
  });

  examine('a command needs a running container', async (world) => {
    const { cri } = world.subject;
    const pod = await world.runPod();
    const created = await world.create(pod, 'sleeper');
    const exited = await world.start(pod, 'exits-0');
    await world.exited(exited);
    const inExited = await Promise.allSettled([cri.execSync({ containerId: exited, cmd: ['true'], timeout: 5n })]);
    if (world.has('commands do not fail')) {
      assert.ok(inExited.every((outcome) => outcome.status === 'rejected' || outcome.value.exitCode !== 0));
      return;
    }
    assert.equal(inExited[0].status, 'rejected');
    await assert.rejects(cri.execSync({ containerId: created, cmd: ['true'], timeout: 5n }));
  });

  examine('streams are served at a URL', async (world) => {
    const { cri } = world.subject;
    const pod = await world.runPod();
    const containerId = await world.start(pod, 'sleeper');
    const stdio = { tty: false, stdin: false, stdout: true, stderr: true };
    const urls = [
      await cri.exec({ containerId, cmd: ['true'], ...stdio }),
      await cri.attach({ containerId, ...stdio }),
      await cri.portForward({ podSandboxId: pod.id, port: [80] }),
    ];
    for (const { url } of urls) assert.match(url, /^https?:\/\//);
    assert.equal(new Set(urls.map(({ url }) => url)).size, 3);
  });

  examine('output is logged line by line with time, stream and tag', async (world) => {
    const pod = await world.runPod();
    await world.exited(await world.start(pod, 'talker'));
    await world.until('the log is complete', async () => (await world.log(pod, 'talker')).split('\n').length > 3);
    const lines = (await world.log(pod, 'talker')).trimEnd().split('\n');
    const parts = lines.map((line) => logLine.exec(line)?.slice(2).join(' ') ?? `malformed: ${line}`);
    // The streams are two pipes, so only the order within each is certain.
    assert.deepEqual(parts.sort(), ['stderr F two', 'stdout F one', 'stdout P three']);
  });

  examine('a container writes on into a new log after a rotation', async (world) => {
    const pod = await world.runPod();
    const containerId = await world.startReady(pod, 'polite');
    const { logPath } = await world.container(containerId);
    await rename(logPath, `${logPath}.rotated`);
    assert.equal(await world.log(pod, 'polite'), '');
    await world.subject.cri.reopenContainerLog({ containerId });
    await rename(logPath, `${logPath}.rotated-again`);
    await world.subject.cri.stopContainer({ containerId, timeout: 0n });
    await assert.rejects(world.subject.cri.reopenContainerLog({ containerId }));
  });
}
