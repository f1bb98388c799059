import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Duration } from '../../src/base/duration.ts';
import { TubeletError } from '../../src/base/errors.ts';
import type { Settings } from '../../src/config/index.ts';
import type { Event, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { ignoresTerm } from '../../src/testing/fake-cri/index.ts';
import { FakeLogind } from '../../src/testing/fake-logind.ts';
import { FakeSystemd } from '../../src/testing/fake-systemd.ts';
import { changeFile } from '../../src/testing/memory-shutdown-files.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { fakeMachine } from '../support/fake-platform.ts';
import { WholeAgent } from '../support/whole-agent.ts';

const threeGroups: Partial<Settings['config']> = {
  shutdownGracePeriodByPodPriority: [
    { priority: 0, shutdownGracePeriodSeconds: 20 },
    { priority: 1_000, shutdownGracePeriodSeconds: 10 },
    { priority: 2_000_000_000, shutdownGracePeriodSeconds: 5 },
  ],
};
const twoGroups: Partial<Settings['config']> = {
  shutdownGracePeriod: Duration.parse('30s'),
  shutdownGracePeriodCriticalPods: Duration.parse('10s'),
};
const requestPath = '/var/lib/kubelet/shutdown/request.json';
const stubborn = 'stubborn';

interface NodeOptions {
  readonly config?: Partial<Settings['config']>;
  readonly grantedMs?: number;
  readonly withSystemd?: boolean;
  readonly refuse?: FakeLogind['refuse'];
}

/** A node of a cluster whose logind a test speaks for. */
async function aNode({ config = threeGroups, grantedMs, withSystemd = true, refuse }: NodeOptions = {}) {
  const logind = new FakeLogind();
  if (refuse !== undefined) logind.refuse = refuse;
  const own = fakeMachine({ cluster: true });
  const machine = { ...own, ...(withSystemd && { systemd: { units: new FakeSystemd(), logind } }) };
  logind.configuredDelayMaxMs = () => {
    const text = own.files.entries.get('/etc/systemd/logind.conf.d/99-kubelet.conf')?.content;
    const seconds = /InhibitDelayMaxSec=(\d+)/.exec(String(text ?? ''))?.[1];
    return grantedMs ?? (seconds === undefined ? 5_000 : Number(seconds) * 1_000);
  };
  machine.cri.programs.forContainer(stubborn, ignoresTerm());
  const agent = new WholeAgent({ machine, cluster: true, config });
  await agent.start();
  await agent.clock.advance(15_000);
  return { agent, logind, machine };
}

type Node = Awaited<ReturnType<typeof aNode>>;

async function withPods({ agent }: Node, pods: Readonly<Record<string, Partial<PodSpec>>>): Promise<void> {
  for (const [name, spec] of Object.entries(pods)) agent.bind(name, spec);
  await agent.clock.advance(10_000);
  assert.deepEqual(agent.running(), Object.keys(pods).toSorted());
}

const ready = ({ agent }: Node) => agent.node()?.status?.conditions?.find(({ type }) => type === 'Ready');
const nodeEvents = ({ agent }: Node, reason: string) =>
  agent.api.objects
    .all<Event>(apiResources.events)
    .filter((event) => event.involvedObject.kind === 'Node' && event.reason === reason)
    .map(({ message }) => message);

/** What a pod says of its end. */
function endOf({ agent }: Node, name: string) {
  const { phase, reason, message, conditions = [] } = agent.pod(name)?.status ?? {};
  const disruption = conditions.find(({ type }) => type === 'DisruptionTarget');
  return { phase, reason, message, disruption: disruption && `${disruption.status} ${disruption.reason}` };
}

const terminated = {
  phase: 'Failed',
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
  disruption: 'True TerminationByKubelet',
};

const three = {
  low: { priority: 5 },
  middle: { priority: 1_000, containers: [aContainer(stubborn)], terminationGracePeriodSeconds: 8 },
  high: { priority: 2_000_001_000 },
};

describe('the machine goes down', () => {
  test('its delay is raised, and a lock is held', async () => {
    const node = await aNode();
    assert.deepEqual([...node.logind.locks], [{ who: 'kubelet', why: 'Kubelet needs time to handle node shutdown' }]);
    assert.deepEqual(node.machine.files.entries.get('/etc/systemd/logind.conf.d/99-kubelet.conf'), {
      content: '# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=35\n',
      mode: 0o644,
    });
    assert.equal(node.logind.reloads, 1);
    assert.deepEqual(nodeEvents(node, 'ShutdownNotDelayed'), []);
    await node.agent.stop();
    assert.equal(node.logind.locks.size, 0);
  });

  test('pods end by priority, each with its grace, and are reported before the lock is released', async () => {
    const node = await aNode();
    const { agent, logind, machine } = node;
    await withPods(node, three);
    const begun = agent.clock.now();
    logind.prepareForShutdown(true);
    await agent.clock.advance(1_500);
    assert.deepEqual([ready(node)?.status, ready(node)?.message], ['False', 'node is shutting down']);
    assert.deepEqual(nodeEvents(node, 'Shutdown'), ['Shutdown manager detected shutdown event']);
    assert.equal(nodeEvents(node, 'NodeNotReady').length, 1);
    assert.deepEqual(endOf(node, 'low'), terminated);
    assert.deepEqual(agent.running(), ['high', 'middle'], 'the second group has begun, not the third');
    agent.bind('late');
    await agent.clock.advance(1_000);
    assert.equal(agent.pod('late')?.status?.reason, 'NodeShutdown');
    assert.equal(
      agent.pod('late')?.status?.message,
      'Pod was rejected: Pod was rejected as the node is shutting down.',
    );

    await agent.clock.advance(4_000);
    assert.deepEqual(agent.running(), ['high', 'middle'], 'a stubborn pod has the time of its group');
    assert.equal(logind.locks.size, 1);
    let written: unknown;
    await agent.clock.runUntil(() => {
      written = endOf(node, 'high');
      return logind.locks.size === 0;
    }, 30_000);
    for (const name of ['low', 'middle', 'high']) assert.deepEqual(endOf(node, name), terminated, name);
    assert.deepEqual(written, terminated);
    const took = agent.clock.now() - begun;
    assert.ok(took >= 8_000 && took < 11_000, `${took} ms: eight of the stubborn pod, the others end at once`);
    const record = await machine.files.readText('/var/lib/kubelet/graceful_node_shutdown_state');
    const { startTime, endTime } = JSON.parse(record) as Record<string, string>;
    assert.equal(Date.parse(startTime ?? ''), begun);
    assert.ok(Date.parse(endTime ?? '') >= begun + 8_000);
    await agent.stop();
  });

  test('without a list critical pods are the last', async () => {
    const node = await aNode({ config: twoGroups });
    await withPods(node, {
      web: { containers: [aContainer(stubborn)], terminationGracePeriodSeconds: 5 },
      dns: three.high,
    });
    node.logind.prepareForShutdown(true);
    await node.agent.clock.advance(4_000);
    assert.deepEqual(node.agent.running(), ['dns', 'web']);
    await node.agent.clock.advance(4_000);
    assert.deepEqual([endOf(node, 'web'), endOf(node, 'dns')], [terminated, terminated]);
    assert.equal(node.logind.locks.size, 0);
    await node.agent.stop();
  });

  test('a pod that outlives its grace by its whole group is waited for, too', async () => {
    const node = await aNode();
    await withPods(node, { slow: { containers: [aContainer(stubborn)], terminationGracePeriodSeconds: 60 } });
    node.logind.prepareForShutdown(true);
    await node.agent.clock.runUntil(() => node.logind.locks.size === 0, 40_000);
    assert.deepEqual(endOf(node, 'slow'), terminated);
    await node.agent.stop();
  });

  test('called off in the middle: what has ended stays so, the rest goes on', async () => {
    const node = await aNode();
    const { agent, logind } = node;
    await withPods(node, three);
    logind.prepareForShutdown(true);
    await agent.clock.advance(3_000);
    logind.prepareForShutdown(false);
    await agent.clock.advance(15_000);
    assert.deepEqual(agent.running(), ['high']);
    assert.equal(agent.pod('high')?.status?.phase, 'Running');
    assert.equal(endOf(node, 'low').phase, 'Failed');
    assert.equal(ready(node)?.status, 'True');
    assert.deepEqual(nodeEvents(node, 'Shutdown'), [
      'Shutdown manager detected shutdown event',
      'Shutdown manager detected shutdown cancellation',
    ]);
    assert.equal(logind.locks.size, 1);
    agent.bind('next');
    await agent.clock.advance(5_000);
    assert.deepEqual(agent.running(), ['high', 'next']);
    await agent.stop();
  });

  test('called off after the end: a new lock is taken', async () => {
    const node = await aNode();
    await withPods(node, { low: {} });
    node.logind.prepareForShutdown(true);
    await node.agent.clock.advance(5_000);
    assert.equal(node.logind.locks.size, 0);
    node.logind.prepareForShutdown(false);
    await node.agent.clock.advance(15_000);
    assert.equal(node.logind.locks.size, 1);
    assert.equal(ready(node)?.status, 'True');
    await node.agent.stop();
  });

  test('an agent that is killed in the middle goes on where it was', async () => {
    const node = await aNode();
    const { agent, logind } = node;
    await withPods(node, three);
    agent.manifest('static', { priority: 5 });
    await agent.clock.advance(5_000);
    logind.prepareForShutdown(true);
    await agent.clock.advance(3_000);
    await agent.kill();
    await agent.start();
    await agent.clock.advance(2_000);
    assert.deepEqual(agent.running(), ['high', 'middle'], 'what has ended is not started again');
    assert.equal(ready(node)?.message, 'node is shutting down');
    agent.bind('late');
    await agent.clock.advance(30_000);
    assert.equal(agent.pod('late')?.status?.reason, 'NodeShutdown');
    for (const name of ['low', 'middle', 'high']) assert.deepEqual(endOf(node, name), terminated, name);
    assert.deepEqual(agent.running(), []);
    await agent.stop();
  });

  test('an API server that does not answer holds it up for a while only', async () => {
    const node = await aNode();
    const { agent, logind } = node;
    await withPods(node, three);
    agent.api.faults.away();
    logind.prepareForShutdown(true);
    await agent.clock.advance(11_000);
    assert.equal(logind.locks.size, 1);
    assert.deepEqual(agent.running(), []);
    await agent.clock.advance(10_000);
    assert.equal(logind.locks.size, 0);
    assert.ok(
      agent.log.messages('warn').some((message) => message.startsWith('The API server does not know how pods ended')),
    );
    // After the boot it hears of it.
    await agent.kill();
    logind.prepareForShutdown(false);
    agent.api.faults.back();
    await agent.start();
    await agent.clock.advance(20_000);
    for (const name of ['low', 'middle', 'high']) assert.deepEqual(endOf(node, name), terminated, name);
    await agent.stop();
  });

  test('a lost bus: lock and watch again, the old lock is kept until then', async () => {
    const node = await aNode();
    const { agent, logind } = node;
    await withPods(node, { low: {} });
    logind.refuse = () => new TubeletError('unavailable', 'no bus');
    logind.loseBus();
    await agent.clock.advance(5_000);
    assert.equal(logind.locks.size, 1);
    logind.refuse = () => undefined;
    await agent.clock.advance(1_500);
    assert.deepEqual([logind.locks.size, logind.watchers], [1, 1]);
    logind.prepareForShutdown(true);
    await agent.clock.advance(5_000);
    assert.deepEqual(endOf(node, 'low'), terminated);
    await agent.stop();
  });

  test('a logind that comes later than the agent: an event until the lock is held', async () => {
    const node = await aNode({
      refuse: (verb) => (verb === 'inhibitShutdown' ? new TubeletError('denied', 'not yet') : undefined),
    });
    assert.equal(node.logind.locks.size, 0);
    assert.deepEqual(nodeEvents(node, 'ShutdownNotDelayed'), [
      'Pods may be cut off when the machine goes down: not yet',
    ]);
    assert.equal(node.agent.registry.render().match(/^tubelet_shutdown_delay_seconds (.*)$/m)?.[1], '0');
    node.logind.refuse = () => undefined;
    await node.agent.clock.advance(2_000);
    assert.equal(node.logind.locks.size, 1);
    assert.equal(node.logind.watchers, 1, 'the watches before have ended');
    assert.equal(node.agent.registry.render().match(/^tubelet_shutdown_delay_seconds (.*)$/m)?.[1], '35');
    assert.equal(nodeEvents(node, 'ShutdownNotDelayed').length, 1);
    await node.agent.stop();
  });

  test('a delay that an operator lowers is raised again, or named', async () => {
    const node = await aNode();
    const { agent, logind, machine } = node;
    const dropIn = '/etc/systemd/logind.conf.d/99-kubelet.conf';
    await machine.files.removeFile(dropIn);
    await logind.reload();
    await agent.clock.advance(310_000);
    assert.equal(await logind.inhibitDelayMaxMs(), 35_000);
    assert.equal(logind.locks.size, 1);
    assert.deepEqual(nodeEvents(node, 'ShutdownNotDelayed'), []);
    logind.configuredDelayMaxMs = () => 7_000;
    await logind.reload();
    await agent.clock.advance(310_000);
    assert.equal(nodeEvents(node, 'ShutdownNotDelayed').length, 1);
    assert.equal(agent.registry.render().match(/^tubelet_shutdown_delay_seconds (.*)$/m)?.[1], '7');
    await agent.stop();
  });

  test('a second announcement, and one while it is called off, change nothing', async () => {
    const node = await aNode();
    const { agent, logind } = node;
    await withPods(node, three);
    logind.prepareForShutdown(false);
    logind.prepareForShutdown(true);
    logind.prepareForShutdown(true);
    await agent.clock.advance(40_000);
    assert.deepEqual(nodeEvents(node, 'Shutdown'), ['Shutdown manager detected shutdown event']);
    assert.equal(logind.locks.size, 0);
    await agent.stop();
  });

  test('without periods in the configuration nothing is done', async () => {
    const node = await aNode({ config: {} });
    await withPods(node, { low: {} });
    assert.deepEqual([node.logind.locks.size, node.logind.watchers], [0, 0]);
    node.logind.prepareForShutdown(true);
    await node.agent.clock.advance(20_000);
    assert.deepEqual(node.agent.running(), ['low']);
    assert.equal(node.machine.files.has('/var/lib/kubelet/shutdown'), false);
    await node.agent.stop();
  });

  test('what logind does not grant is an event of the node', async () => {
    const node = await aNode({ grantedMs: 5_000 });
    assert.deepEqual(nodeEvents(node, 'ShutdownNotDelayed'), [
      'Pods may be cut off when the machine goes down: node shutdown manager was unable to update logind ' +
        'InhibitDelayMaxSec to 35s (ShutdownGracePeriod), current value of InhibitDelayMaxSec (5s) is less than requested ' +
        'ShutdownGracePeriod',
    ]);
    assert.equal(node.logind.locks.size, 1, 'five seconds are better than none');
    await node.agent.stop();
  });

  test('static pods run again after the boot', async () => {
    const node = await aNode();
    const { agent, logind, machine } = node;
    agent.manifest('static', { priority: 2_000_001_000 });
    await agent.clock.advance(5_000);
    assert.deepEqual(agent.running().length, 1);
    logind.prepareForShutdown(true);
    await agent.clock.advance(10_000);
    assert.deepEqual(agent.running(), []);
    await agent.stop();
    logind.prepareForShutdown(false);
    for (const sandbox of machine.cri.state.sandboxes.values()) assert.equal(sandbox.state, 'notReady');
    await agent.start();
    await agent.clock.advance(30_000);
    assert.deepEqual(agent.running().length, 1);
    await agent.stop();
  });
});

describe('a node without systemd', () => {
  const ask = async ({ machine, agent }: Node, request: object | undefined): Promise<void> => {
    changeFile(machine.files, requestPath, request === undefined ? undefined : JSON.stringify(request));
    await agent.clock.advance(100);
  };
  const answer = async ({ machine }: Node, to = 'request.json') =>
    JSON.parse(await machine.files.readText(`/var/lib/kubelet/shutdown/answer-to-${to}`)) as {
      id: string;
      lines: string[];
      end?: string;
    };

  test('says that the machine is not held up', async () => {
    const node = await aNode({ withSystemd: false });
    assert.equal(nodeEvents(node, 'ShutdownNotDelayed').length, 1);
    await node.agent.stop();
  });

  test('is shut down by hand', async () => {
    const node = await aNode({ withSystemd: false });
    const { agent, machine } = node;
    const { bootId = '' } = { bootId: agent.node()?.status?.nodeInfo?.bootID };
    await withPods(node, three);
    changeFile(machine.files, '/var/lib/kubelet/shutdown/plan.json', JSON.stringify({ id: 'p', bootId }));
    await agent.clock.advance(100);
    assert.deepEqual(await answer(node, 'plan.json'), {
      id: 'p',
      lines: [
        'priority 0 and above: 20 seconds, ends at once, by 20 s',
        '  default/low: 20 s of grace',
        'priority 1000 and above: 10 seconds, ends after at most 20 s, by 30 s',
        '  default/middle: 8 s of grace',
        'priority 2000000000 and above: 5 seconds, ends after at most 30 s, by 35 s',
        '  default/high: 5 s of grace',
      ],
      end: 'done',
    });
    await ask(node, { id: 'r', bootId });
    await agent.clock.advance(3_000);
    assert.equal(ready(node)?.message, 'node is shutting down');
    assert.equal((await answer(node)).end, undefined);
    await agent.clock.advance(20_000);
    const { id, lines, end } = await answer(node);
    assert.deepEqual([id, end], ['r', 'done']);
    assert.deepEqual(lines.slice(-5), [
      'priority 0 and above: over after 0.0 s',
      'priority 1000 and above: over after 8.0 s',
      'priority 2000000000 and above: over after 0.0 s',
      'Everything that had to be said has been said.',
      'The machine may go down.',
    ]);
    for (const name of ['low', 'middle', 'high']) assert.deepEqual(endOf(node, name), terminated, name);

    // A restart of the agent does not forget it, its end does.
    await agent.stop();
    await agent.start();
    await agent.clock.advance(15_000);
    assert.equal(ready(node)?.message, 'node is shutting down');
    await ask(node, undefined);
    await agent.clock.advance(15_000);
    assert.equal(ready(node)?.status, 'True');
    assert.equal((await answer(node)).end, 'calledOff');
    await agent.stop();
  });

  test('a request of an earlier boot, or none at all, shuts nothing down', async () => {
    const node = await aNode({ withSystemd: false });
    await withPods(node, { low: {} });
    await ask(node, { id: 'r', bootId: 'another' });
    assert.equal(node.machine.files.has(requestPath), false);
    await ask(node, { id: 7 });
    changeFile(node.machine.files, requestPath, '{');
    await node.agent.clock.advance(20_000);
    assert.deepEqual(node.agent.running(), ['low']);
    assert.equal(ready(node)?.status, 'True');
    await node.agent.stop();
  });
});
