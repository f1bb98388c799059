import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import type { Clock } from '../base/clock.ts';
import { AgentSupervisor, restartPause } from './agent-supervisor.ts';
import { LineFollower, startInBackground } from './background.ts';
import { endProcess, spawnDetached } from './detached-process.ts';
import { emptyJournal, JournalKeeper } from './journal.ts';
import { isAlive } from './process-table.ts';

let folder: string;
let alive: NodeJS.Timeout;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tubelet-supervise-'));
  // Detached processes do not keep this one alive.
  alive = setInterval(() => undefined, 1_000);
});
after(() => {
  clearInterval(alive);
  rmSync(folder, { recursive: true, force: true });
});

/** Real processes, without a pause between their lives. */
const hasty: Clock = { ...systemClock(), sleep: async () => undefined };
const forEver = 'setInterval(() => undefined, 1000)';

function supervisor(script: string, onRestart: (reason: string) => void): AgentSupervisor {
  return new AgentSupervisor({
    command: { program: process.execPath, args: ['-e', script] },
    logFile: join(folder, 'agent.log'),
    keeper: new JournalKeeper(join(folder, 'state.json'), emptyJournal('boot')),
    clock: hasty,
    onRestart,
  });
}

test('the pause before a restart doubles, and an agent that never lives long is given up', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 9].map(restartPause), [1000, 1000, 2000, 4000, undefined, undefined]);
});

test('an agent that ends again and again is started again, then given up with the end of its log', async () => {
  const reasons: string[] = [];
  const agent = supervisor('console.error("bad flag"); process.exit(3)', (reason) => reasons.push(reason));
  await agent.start();
  await assert.rejects(agent.failed, /exit code 3[^]*bad flag/);
  assert.deepEqual(
    reasons,
    Array.from({ length: 3 }, () => 'ended with exit code 3'),
  );
});

test('the care ends without ending the agent, whose number is in the journal', async () => {
  const agent = supervisor(forEver, () => assert.fail('it did not end'));
  await agent.start();
  await agent.stop();
  await agent.failed;
  const journal = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as {
    processes: { agent: { pid: number; startTime: string } };
  };
  assert.equal(isAlive(journal.processes.agent), true);
  await endProcess(journal.processes.agent, systemClock(), 10_000);
  assert.equal(isAlive(journal.processes.agent), false);
});

test('a process that does not listen is killed', async () => {
  const script = `process.on('SIGTERM', () => undefined); ${forEver}; console.log('deaf')`;
  const logFile = join(folder, 'deaf.log');
  const { identity, exited } = await spawnDetached({ program: process.execPath, args: ['-e', script], logFile });
  const clock = systemClock();
  while (readFileSync(logFile, 'utf8') !== 'deaf\n') await clock.sleep(5);
  await endProcess(identity, clock, 100);
  assert.deepEqual(await exited, { code: null, signal: 'SIGKILL' });
});

test('a missing program is an error, not a crash', async () => {
  await assert.rejects(spawnDetached({ program: '/no/such/program', args: [], logFile: join(folder, 'x') }), /ENOENT/);
});

const background = (script: string, signal: AbortSignal, write: (text: string) => void): Promise<void> =>
  startInBackground(
    { program: process.execPath, args: ['-e', script] },
    join(folder, 'background.log'),
    'ready',
    { clock: systemClock(), write },
    signal,
  );

test('the background start shows lines until the word, and only those of this start', async () => {
  writeFileSync(join(folder, 'background.log'), 'ready\n');
  let text = '';
  const pidFile = join(folder, 'pid');
  const script = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
    console.log('not ready'); console.log('ready'); ${forEver}`;
  await background(script, new AbortController().signal, (line) => {
    text += line;
  });
  assert.equal(text, 'not ready\nready\n');
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
});

test('a background program that ends before is a failure, and its last words are shown', async () => {
  let text = '';
  const run = background('console.log("no room"); process.exit(1)', new AbortController().signal, (line) => {
    text += line;
  });
  await assert.rejects(run, /ended before it was ready/);
  assert.equal(text, 'no room\n');
});

test('an abort ends the background program', async () => {
  const abort = new AbortController();
  const run = background(`console.log('begun'); ${forEver}`, abort.signal, () => abort.abort());
  await assert.rejects(run, /stopped/);
});

test('LineFollower gives whole lines, also when characters come in halves', async () => {
  const bytes = Buffer.from('ä\nrest');
  let available = 1;
  const follow = new LineFollower(async (buffer, position) => bytes.copy(buffer, 0, position, available), 0);
  assert.deepEqual(await follow.lines(), []);
  available = bytes.length;
  assert.deepEqual(await follow.lines(), ['ä']);
  assert.deepEqual(await follow.lines(), []);
});
