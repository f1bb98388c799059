import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '../../src/config/index.ts';
import { askAgent } from '../../src/main/commands/ask-agent.ts';
import { ignoresTerm } from '../../src/testing/fake-cri/index.ts';
import { changeFile, memoryShutdownFiles } from '../../src/testing/memory-shutdown-files.ts';
import { goldenInputs } from '../../src/testing/node-world.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { WholeAgent } from '../support/whole-agent.ts';

const config: Partial<Settings['config']> = {
  shutdownGracePeriodByPodPriority: [{ priority: 0, shutdownGracePeriodSeconds: 10 }],
};
const bootId = goldenInputs.identity?.bootId ?? '';

/** A node alone, and what a user types beside its agent. */
async function aNode(options: Partial<Settings['config']> = config) {
  const agent = new WholeAgent({ config: options });
  agent.machine.cri.programs.forContainer('stubborn', ignoresTerm());
  await agent.start();
  const { files, clock } = agent.machine;
  const own = memoryShutdownFiles(files);
  let asked = 0;
  const ask = (what: 'plan' | 'shutdown' | 'cancel', signal = new AbortController().signal) => {
    const lines: string[] = [];
    const answer = askAgent(what, {
      files: {
        read: (path, maxBytes) => own.read(path, maxBytes),
        replace: async (path, text) => {
          if (!files.has('/var/lib/kubelet/shutdown')) await files.readText(path);
          changeFile(files, path, text);
        },
        remove: async (path) => changeFile(files, path, undefined),
      },
      clock,
      rootDir: '/var/lib/kubelet',
      id: `id-${++asked}`,
      bootId,
      onLine: (line) => void lines.push(line),
      signal,
    });
    return { lines, answer };
  };
  return { agent, ask };
}

test('a plan, a shutdown that is joined, and its end', async () => {
  const { agent, ask } = await aNode();
  agent.manifest('web', { containers: [aContainer('stubborn')], terminationGracePeriodSeconds: 4 });
  await agent.clock.advance(5_000);
  const plan = ask('plan');
  await agent.clock.advance(1_000);
  assert.deepEqual(await plan.answer, { kind: 'done' });
  assert.deepEqual(plan.lines, [
    'priority 0 and above: 10 seconds, ends at once, by 10 s',
    '  default/web-node-1: 4 s of grace',
  ]);

  const first = ask('shutdown');
  await agent.clock.advance(1_000);
  const joined = ask('shutdown');
  await agent.clock.advance(1_000);
  assert.deepEqual(joined.lines, ['The node takes no new pods.', ...plan.lines]);
  await agent.clock.advance(8_000);
  assert.deepEqual([await first.answer, await joined.answer], [{ kind: 'done' }, { kind: 'done' }]);
  assert.deepEqual(first.lines, joined.lines);
  assert.deepEqual(first.lines.slice(3), [
    'priority 0 and above: over after 4.0 s',
    'Everything that had to be said has been said.',
    'The machine may go down.',
  ]);
  const cancel = ask('cancel');
  await agent.clock.advance(1_000);
  assert.deepEqual(await cancel.answer, { kind: 'calledOff' });
  assert.equal(cancel.lines.length, 1);
  assert.equal((await ask('cancel').answer).kind, 'nothingToCallOff');
  await agent.stop();
});

test('who is tired of waiting takes nothing back', async () => {
  const { agent, ask } = await aNode();
  agent.manifest('web', { containers: [aContainer('stubborn')] });
  await agent.clock.advance(5_000);
  const patience = new AbortController();
  const { answer } = ask('shutdown', patience.signal);
  await agent.clock.advance(1_000);
  patience.abort();
  assert.equal((await answer).kind, 'interrupted');
  await agent.clock.advance(15_000);
  assert.deepEqual(agent.running(), []);
  await agent.stop();
});

test('no answer: no such folder, or an agent that has died', async () => {
  const unconfigured = await aNode({});
  assert.equal((await unconfigured.ask('shutdown').answer).kind, 'unanswered');
  await unconfigured.agent.stop();
  const { agent, ask } = await aNode();
  await agent.stop();
  const { answer } = ask('plan');
  await agent.clock.advance(15_000);
  const { kind, message } = await answer;
  assert.equal(kind, 'unanswered');
  assert.match(message ?? '', /no agent answers in \/var\/lib\/kubelet/);
});
