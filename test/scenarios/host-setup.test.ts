import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeError } from '../../src/base/errors.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { WholeAgent, type WholeAgentOptions } from '../support/whole-agent.ts';

const swapLines = 'Filename\tType\tSize\n/dev/sda2 partition 8388604\n';
const olderKernel = '5.14.0-427.el9.x86_64';

const usualKernel = {
  architecture: 'amd64',
  kernelVersion: '6.18.44',
  hasAppArmor: false,
  hasSwapController: false,
  hasSelinux: false,
};

/** The events of the node, by reason. */
const nodeEvents = (agent: WholeAgent): readonly unknown[] =>
  agent.log.entries.flatMap(({ message, fields }) =>
    message === 'Event occurred' && fields['kind'] === 'Node' ? [fields['reason']] : [],
  );

function anAgent(options: WholeAgentOptions = {}) {
  const agent = new WholeAgent(options);
  return { agent, setup: agent.machine.setup };
}

describe('the host is set up before the first pod', () => {
  test('score, limit, folders and chains stand when a pod starts', async () => {
    const { agent, setup } = anAgent();
    setup.mountTable = [{ mountPoint: '/', optionalFields: [] }];
    setup.values.set('vm/overcommit_memory', '0');
    agent.manifest('web');
    await agent.start();
    assert.deepEqual(setup.changes, [
      'oom_score_adj -999',
      'rlimit',
      'bind /var/lib/kubelet',
      'share /var/lib/kubelet',
      'vm/overcommit_memory 1',
    ]);
    assert.equal(setup.maxOpenFiles, 1_000_000);
    assert.deepEqual([...(setup.iptables.chains.get('iptables mangle')?.keys() ?? [])].slice(2), [
      'KUBE-IPTABLES-HINT',
      'KUBE-KUBELET-CANARY',
    ]);
    await agent.clock.advance(10_000);
    assert.deepEqual(agent.running(), ['web-node-1']);
    await agent.stop();
  });

  test('a second life writes nothing anew, and nothing is undone when the agent ends', async () => {
    const { agent, setup } = anAgent();
    await agent.start();
    await agent.kill();
    setup.changes.length = 0;
    await agent.start();
    await agent.stop();
    assert.deepEqual(setup.changes, ['rlimit']);
    assert.deepEqual(
      setup.iptables.calls.filter((call) => / -[XFD] /.test(call)),
      [],
    );
  });

  test('without any privilege pods run, and each loss is named once', async () => {
    const { agent, setup } = anAgent();
    setup.mountTable = [{ mountPoint: '/', optionalFields: [] }];
    setup.values.set('kernel/panic', '0');
    for (const change of ['oom_score_adj -999', 'rlimit', 'bind /var/lib/kubelet', 'kernel/panic 10']) {
      setup.denied.add(change);
    }
    agent.manifest('web');
    await agent.start();
    await agent.clock.advance(900_000);
    assert.deepEqual(agent.running(), ['web-node-1']);
    const losses = agent.log.entries.filter(({ fields }) => fields['lost'] !== undefined);
    assert.deepEqual(
      losses.map(({ message }) => message),
      [
        'Failed to ApplyOOMScoreAdj',
        'Failed to set rlimit on max file handles',
        'The root directory cannot be shared for lack of privilege',
        'Kernel flags cannot be changed for lack of privilege',
      ],
    );
    await agent.stop();
  });

  test('a protected kernel that differs ends the start with an event', async () => {
    const { agent, setup } = anAgent({ flags: ['--protect-kernel-defaults'] });
    setup.values.set('kernel/panic', '0');
    const message = /invalid kernel flag: kernel\/panic, expected value: 10, actual value: 0/;
    await assert.rejects(agent.start(), (error) => message.test(describeError(error)));
    assert.deepEqual(nodeEvents(agent), ['KubeletSetupFailed']);
    assert.equal(agent.machine.cri.state.sandboxes.size, 0);
  });
});

describe('swap', () => {
  test('refuses the start', async () => {
    const { agent, setup } = anAgent();
    setup.swapText = swapLines;
    await assert.rejects(agent.start(), /running with swap on is not supported/);
  });

  for (const [words, kernel, denied, expected] of [
    ['a newer kernel', '6.8.0', false, ['noswap']],
    ['an older one that has the option', olderKernel, false, ['noswap']],
    ['an older one that has it not', olderKernel, true, []],
  ] as const) {
    test(`volumes in memory on ${words}: ${expected.join(',') || 'plain'}`, async () => {
      const { agent, setup } = anAgent({
        flags: ['--fail-swap-on=false'],
        overrides: () => ({ host: { kernel: { ...usualKernel, kernelVersion: kernel } } }),
      });
      setup.swapText = swapLines;
      if (denied) setup.denied.add('tmpfs noswap below /var/lib/kubelet');
      agent.manifest('web', {
        volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }],
        containers: [aContainer('main', { volumeMounts: [{ name: 'm', mountPath: '/m' }] })],
      });
      await agent.start();
      await agent.clock.advance(10_000);
      assert.deepEqual(agent.running(), ['web-node-1']);
      const [options] = [...agent.machine.files.mounts].flatMap(([point, [type, ...rest]]) =>
        point.includes('empty-dir') && type === 'tmpfs' ? [rest] : [],
      );
      assert.deepEqual(
        options?.filter((option) => option === 'noswap'),
        expected,
      );
      assert.equal(nodeEvents(agent).includes('PossibleMemoryBackedVolumesOnDisk'), denied);
      await agent.stop();
    });
  }
});
