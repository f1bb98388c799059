import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../../base/errors.ts';
import { containerId } from '../../../base/ids.ts';
import type { Container } from '../../../gen/kubernetes/types.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { createFakeCri, type FakeCri } from '../../../testing/fake-cri/index.ts';
import { aContainer, aPod, runContainer, runSandbox, testImage } from '../../../testing/pods.ts';
import type { ProbeTarget } from '../ports.ts';
import { execProber, execProbesAtOnce } from './exec.ts';

const signal = new AbortController().signal;

async function world(
  command: readonly string[],
  container: Partial<Container> = {},
): Promise<{ readonly clock: FakeClock; readonly cri: FakeCri; readonly target: ProbeTarget }> {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  const pod = aPod();
  const id = await runContainer(cri, pod, await runSandbox(cri, pod));
  const target: ProbeTarget = {
    pod,
    container: aContainer('main', container),
    containerId: containerId(id),
    probe: { exec: { command } },
    podIp: undefined,
    timeoutMs: 2_000,
  };
  return { clock, cri, target };
}

test('exit code zero is success, any other failure with the output', async () => {
  const { cri, target } = await world(['check']);
  const probe = execProber(cri);
  cri.execs.forContainer('main', { stdout: 'fine\n' }, { exitCode: 1, stdout: 'sick\n', stderr: 'no pulse\n' });
  assert.deepEqual(await probe(target, signal), { kind: 'success', output: 'fine\n' });
  assert.deepEqual(await probe(target, signal), { kind: 'failure', output: 'sick\nno pulse\n' });
});

test('no more than ten KiB of output are kept', async () => {
  const { cri, target } = await world(['check']);
  cri.execs.forContainer('main', { exitCode: 2, stdout: 'a'.repeat(9_000), stderr: 'b'.repeat(9_000) });
  const outcome = await execProber(cri)(target, signal);
  assert.ok(outcome.kind === 'failure');
  assert.equal(outcome.output, 'a'.repeat(9_000) + 'b'.repeat(10 * 1_024 - 9_000));
});

test('a command that takes too long has failed, with this message', async () => {
  const { clock, cri, target } = await world(['sh', '-c', 'sleep "9"']);
  cri.execs.forContainer('main', { hangs: true });
  const outcome = execProber(cri)(target, signal);
  await clock.advance(2_000);
  assert.deepEqual(await outcome, {
    kind: 'failure',
    output: 'command timed out: "sh -c sleep \\"9\\"" timed out after 2s',
    unanswered: true,
  });
});

test('a timeout that the runtime reports is an answer, however late the agent is', async () => {
  const { cri, target } = await world(['sleep', '9']);
  const remoteMessage = 'failed to exec in container: timeout 2s exceeded: context deadline exceeded';
  const error = new TubeletError('timeout', `execSync: ${remoteMessage}`, { remoteMessage, code: 'DeadlineExceeded' });
  const probe = execProber({ ...cri, execSync: async () => Promise.reject(error) });
  assert.deepEqual(await probe(target, signal), {
    kind: 'failure',
    output: 'command timed out: "sleep 9" timed out after 2s',
  });
});

test('a failure of the runtime is reported with its code', async () => {
  const { cri, target } = await world(['check']);
  const error = new TubeletError('notFound', 'execSync: no task', { remoteMessage: 'no task', code: 'NotFound' });
  const probe = execProber({ ...cri, execSync: async () => Promise.reject(error) });
  assert.deepEqual(await probe(target, signal), {
    kind: 'error',
    state: 'unknown',
    error: 'rpc error: code = NotFound desc = no task',
  });
});

test('a command that cannot be run is an error with the message of the runtime', async () => {
  const { cri, target } = await world(['nonsense']);
  const message = 'failed to exec in container: exec: "nonsense": executable file not found in $PATH';
  cri.execs.forContainer('main', { failure: { kind: 'internal', message } });
  assert.deepEqual(await execProber(cri)(target, signal), { kind: 'error', state: 'unknown', error: message });
});

test('the command may use variables of the spec, but none that come from elsewhere', async () => {
  const env = [
    { name: 'PORT', value: '80' },
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ];
  const { cri, target } = await world(['check', '$(PORT)', '<$(NODE)>', '$(OTHER)', '$$(PORT)'], { env });
  const commands: (readonly string[])[] = [];
  cri.execs.on((command) => {
    commands.push(command);
    return {};
  });
  await execProber(cri)(target, signal);
  assert.deepEqual(commands, [['check', '80', '<>', '$(OTHER)', '$(PORT)']]);
});

test('only so many run at a time, and the time of those that wait has not begun', async () => {
  const { clock, cri, target } = await world(['check']);
  let running = 0;
  let max = 0;
  const probe = execProber({
    async execSync(request, options) {
      max = Math.max(max, ++running);
      try {
        return await cri.execSync(request, options);
      } finally {
        running--;
      }
    },
  });
  cri.execs.forContainer('main', { takesMs: 1_500, stdout: 'done' });
  const outcomes = Promise.all(Array.from({ length: 3 * execProbesAtOnce }, () => probe(target, signal)));
  await clock.advance(4_500);
  assert.deepEqual(new Set((await outcomes).map(({ kind }) => kind)), new Set(['success']));
  assert.equal(max, execProbesAtOnce);
});

test('an abort rejects, waiting or running', async () => {
  const { clock, cri, target } = await world(['check']);
  cri.execs.forContainer('main', { hangs: true });
  const stop = new AbortController();
  const probe = execProber(cri);
  const all = Promise.allSettled(Array.from({ length: execProbesAtOnce + 1 }, () => probe(target, stop.signal)));
  await clock.settle();
  stop.abort();
  assert.deepEqual(new Set((await all).map(({ status }) => status)), new Set(['rejected']));
});

test('a command that prints more than could be given to a process is not run', async () => {
  const env = [{ name: 'A', value: 'x'.repeat(1_024) }];
  const { cri, target } = await world(['$(A)'.repeat(4_096)], { env });
  const outcome = await execProber(cri)(target, signal);
  assert.ok(outcome.kind === 'error');
  assert.match(outcome.error, /more than 2097152 bytes/);
});

test('containers that print a lot are asked one at a time, and others meanwhile', async () => {
  const { target } = await world(['check']);
  const running = new Set<string>();
  const ends = new Map<string, () => void>();
  let max = 0;
  const long = Buffer.alloc(1024 * 1024);
  const probe = execProber({
    execSync: async ({ containerId: id }) => {
      running.add(id);
      max = Math.max(max, [...running].filter((one) => one.startsWith('verbose')).length);
      await new Promise<void>((resolve) => ends.set(id, resolve));
      running.delete(id);
      return { exitCode: 0, stdout: id.startsWith('verbose') ? long : Buffer.from('ok'), stderr: Buffer.alloc(0) };
    },
  });
  const ids = ['verbose1', 'verbose2', 'verbose3', 'quiet'];
  const all = () => ids.map((id) => probe({ ...target, containerId: containerId(id) }, signal));
  const turn = () => new Promise((resolve) => void setImmediate(resolve));
  const finish = async (probes: readonly Promise<unknown>[]): Promise<void> => {
    // Each of them may have to wait for the one before.
    for (let round = 0; round < ids.length * 3; round++) {
      await turn();
      for (const end of ends.values()) end();
    }
    await Promise.all(probes);
  };
  await finish(all());
  assert.equal(max, 3);
  max = 0;
  const second = all();
  await turn();
  assert.deepEqual([...running].sort(), ['quiet', 'verbose1']);
  await finish(second);
  assert.equal(max, 1);
});
