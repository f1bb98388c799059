import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { InvariantError } from '../base/errors.ts';
import { Heartbeats, LoopHeartbeat } from '../base/heartbeats.ts';
import { systemClock } from '../base/system-clock.ts';
import { systemRandom } from '../base/system-random.ts';
import { serviceNotifier, watchdogTimeoutMs } from '../host/index.ts';
import { createLog } from '../telemetry/index.ts';
import { notifySocket } from '../testing/notify-socket.ts';
import { kubelet } from './commands/kubelet.ts';
import { exitAfterFlush } from './exit-after-flush.ts';
import { ServiceWatchdog } from './service-watchdog.ts';
import { onSignals } from './signals.ts';

const role = process.env['TUBELET_TEST_ROLE'];
const clock = systemClock();
const limitMs = 10_000;

/** What the child does with each line on its standard input. */
const mistakes: Readonly<Record<string, () => void>> = {
  reject: () => void Promise.reject(new Error('planted rejection')),
  throw: () => void setTimeout(() => plantedThrow(), 1),
  invariant: () => void Promise.reject(new InvariantError('planted invariant')),
  freeze: () => {
    const until = clock.monotonic() + 1_500;
    while (clock.monotonic() < until);
  },
};

function plantedThrow(): never {
  throw new Error('planted exception');
}

function obey(words: Readonly<Record<string, () => void>>): void {
  process.stdin.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((word) => word !== '')) words[line]?.();
  });
}

/** The agent as it is, whose runtime never comes. */
async function agent(): Promise<void> {
  obey(mistakes);
  const io = {
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
    env: process.env,
    isTerminal: false,
    signal: onSignals(process, clock, () => process.exit(9)),
  };
  const code = await kubelet('v1.34.0')(process.argv.slice(2), io);
  await exitAfterFlush(code, [process.stdout, process.stderr], clock, (status) => process.exit(status));
}

/** The watchdog alone, with a loop that hangs on request. */
async function watchdog(): Promise<void> {
  const [log, heartbeats] = [createLog({ format: 'text', clock }), new Heartbeats()];
  let agoMs = 0;
  const loop = new LoopHeartbeat({ name: 'pleg-relist' }, () => clock.monotonic() - agoMs);
  heartbeats.add(loop);
  const set = (ms: number) => () => {
    agoMs = ms;
    loop.beat();
  };
  obey({ hang: set(600_000), recover: set(0) });
  const timeoutMs = watchdogTimeoutMs(process.env, process.pid) ?? assert.fail('there is no watchdog');
  const notifier = serviceNotifier(process.env);
  await new ServiceWatchdog({ clock, random: systemRandom(), log, heartbeats, notifier, timeoutMs }).start();
}

interface Child {
  readonly process: ChildProcess;
  readonly socket: () => string[];
  send(word: string): void;
  said(pattern: RegExp): Promise<void>;
  readonly text: () => string;
  ended(): Promise<number | null>;
}

function start(context: TestContext, as: 'agent' | 'watchdog'): Child {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-run-agent-'));
  const config = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  const endpoint = `unix://${folder}/no-runtime.sock`;
  const alone = { authentication: { webhook: { enabled: false } }, authorization: { mode: 'AlwaysAllow' } };
  const ours = {
    podLogsDir: `${folder}/logs`,
    healthzPort: 0,
    enableServer: false,
    containerRuntimeEndpoint: endpoint,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...alone, ...ours }));
  const socket = notifySocket(context, join(folder, 'notify'));
  const args = [`--config=${folder}/config.json`, `--root-dir=${folder}/root`, `--cert-dir=${folder}/pki`];
  const env = { TUBELET_TEST_ROLE: as, NOTIFY_SOCKET: join(folder, 'notify'), WATCHDOG_USEC: '1200000' };
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], {
    stdio: 'pipe',
    env: { ...process.env, ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  }
  const closed = once(child, 'close');
  context.after(async () => {
    child.kill('SIGKILL');
    await closed;
    // The agent shares its root folder with what is mounted below it; one that ended early has not come to that.
    spawnSync('umount', [join(folder, 'root')]);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    process: child,
    socket,
    send: (word) => void child.stdin.write(`${word}\n`),
    said: (pattern) =>
      until(
        () => pattern.test(text),
        () => `${pattern} in ${text}`,
      ),
    text: () => text,
    ended: async () => (await closed)[0] as number | null,
  };
}

async function until(holds: () => boolean, what: () => string): Promise<void> {
  for (const deadline = clock.monotonic() + limitMs; !holds(); await clock.sleep(20)) {
    if (clock.monotonic() > deadline) throw new Error(`did not come: ${what()}`);
  }
}

const pets = (child: Child): number => child.socket().filter((word) => word === 'WATCHDOG=1').length;

/** How often the watchdog is notified within that time from now on. */
async function petsWithin(ms: number, child: Child): Promise<number> {
  pets(child);
  await clock.sleep(ms);
  return pets(child);
}

if (role === 'agent') await agent();
else if (role === 'watchdog') await watchdog();
else {
  test('an unhandled rejection is logged with its origin, and the agent continues', async (context) => {
    const child = start(context, 'agent');
    await child.said(/Waiting for the container runtime/);
    child.send('reject');
    await child.said(/Unexpected error, continuing/);
    assert.match(child.text(), /kind="unhandledRejection"/);
    assert.match(child.text(), /planted rejection[^]*run-agent\.test/, 'the stack says where it came from');
    const before = child.text().length;
    await until(() => /Waiting for the container runtime/.test(child.text().slice(before)), child.text);
    child.process.kill('SIGTERM');
    assert.equal(await child.ended(), 0);
  });

  for (const [word, kind] of [
    ['throw', 'uncaughtException'],
    ['invariant', 'unhandledRejection'],
  ] as const) {
    test(`an error that may have damaged the state ends the agent in order: ${word}`, async (context) => {
      const child = start(context, 'agent');
      await child.said(/Waiting for the container runtime/);
      child.send(word);
      assert.equal(await child.ended(), 1);
      assert.match(child.text(), /Unexpected error, ending the agent/);
      assert.match(child.text(), new RegExp(`kind="${kind}"`));
      assert.match(child.text(), /planted (?:exception|invariant)[^]*run-agent\.test/);
    });
  }

  test('the systemd watchdog is notified while the agent waits for its runtime, and not while its event loop is blocked', async (context) => {
    const child = start(context, 'agent');
    await child.said(/Waiting for the container runtime/);
    const usual = await petsWithin(2_000, child);
    assert.ok(usual >= 2, `${usual} notifications in two seconds`);
    child.send('freeze');
    await clock.sleep(300);
    assert.equal(await petsWithin(1_000, child), 0);
    await until(
      () => pets(child) > 0,
      () => 'notifications after the freeze',
    );
    child.process.kill('SIGTERM');
    assert.equal(await child.ended(), 0);
  });

  test('the systemd watchdog is not notified while a loop hangs', async (context) => {
    const child = start(context, 'watchdog');
    await until(() => pets(child) > 0, child.text);
    child.send('hang');
    await child.said(/reportedly not healthy[^\n]*pleg-relist/);
    assert.equal(await petsWithin(1_000, child), 0);
    child.send('recover');
    await child.said(/All loops make progress again/);
    await until(() => pets(child) > 0, child.text);
  });
}
