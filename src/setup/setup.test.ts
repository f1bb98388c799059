import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commonPorts } from '../testing/common-ports.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { MemorySetupMachine } from '../testing/memory-setup-machine.ts';
import { createSetup, type SetupSettings } from './create-setup.ts';
import { prepareHost, type PrepareSettings } from './prepare-host.ts';

const usual: PrepareSettings = {
  rootDir: '/k',
  podLogsDir: '/logs',
  maxOpenFiles: 1_000_000,
  failSwapOn: true,
  checkpoints: true,
  kernelRelease: '6.8.0',
  hasSelinux: false,
};
const usualSetup: SetupSettings = {
  oomScoreAdj: -999,
  hasOwnCgroup: false,
  tunables: 'change',
  systemCgroups: '',
  iptablesChains: false,
  expectsUserNamespace: false,
};

function aMachine() {
  const files = new MemoryFiles();
  const log = new MemoryLog();
  const clock = new FakeClock();
  const machine = new MemorySetupMachine(files);
  const prepare = (settings: Partial<PrepareSettings> = {}) => prepareHost(machine, { ...usual, ...settings }, log);
  const create = (settings: Partial<SetupSettings> = {}) =>
    createSetup({ ports: commonPorts({ log, clock }), settings: { ...usualSetup, ...settings }, machine });
  const { signal } = new AbortController();
  return { files, log, clock, machine, prepare, create, signal };
}

describe('before the first component', () => {
  test('the limit of open files is set, and folders are made with the modes of a kubelet', async () => {
    const it = aMachine();
    assert.deepEqual(await it.prepare(), { swapOn: false, tmpfsNoSwap: true });
    assert.equal(it.machine.maxOpenFiles, 1_000_000);
    const modes = ['', '/pods', '/plugins', '/plugins_registry', '/pod-resources', '/checkpoints'].map((path) => [
      path,
      it.files.entries.get(`/k${path}`)?.mode.toString(8),
    ]);
    assert.deepEqual(modes, [
      ['', '750'],
      ['/pods', '750'],
      ['/plugins', '750'],
      ['/plugins_registry', '750'],
      ['/pod-resources', '750'],
      ['/checkpoints', '700'],
    ]);
    assert.deepEqual(it.machine.changes, ['rlimit'], 'what is as it should be is left alone');
  });

  test('a limit that the agent may not raise is named, and stays', async () => {
    const it = aMachine();
    it.machine.denied.add('rlimit');
    await it.prepare();
    assert.deepEqual(it.log.messages('error'), ['Failed to set rlimit on max file handles']);
  });

  test('folders of plugins are labelled where SELinux is enabled', async () => {
    const it = aMachine();
    await it.prepare({ hasSelinux: true });
    const label = 'system_u:object_r:container_file_t:s0';
    assert.deepEqual(Object.fromEntries(it.machine.labels), { '/k/plugins_registry': label, '/k/plugins': label });
  });

  test('a label that is refused is named with its folder', async () => {
    const it = aMachine();
    it.machine.denied.add('label /k/plugins');
    await it.prepare({ hasSelinux: true });
    assert.deepEqual(
      it.log.entries.map(({ fields }) => fields['path']),
      ['/k/plugins'],
    );
  });

  test('a root directory on a mount of its own namespace is bound onto itself and shared, once', async () => {
    const it = aMachine();
    it.machine.mountTable = [{ mountPoint: '/', optionalFields: [] }];
    await it.prepare();
    assert.deepEqual(it.machine.changes, ['rlimit', 'bind /k', 'share /k']);
    await it.prepare();
    assert.deepEqual(it.machine.changes, ['rlimit', 'bind /k', 'share /k', 'rlimit']);
  });

  test('without the privilege to mount the agent goes on, and says what is lost', async () => {
    const it = aMachine();
    it.machine.mountTable = [{ mountPoint: '/', optionalFields: [] }];
    it.machine.denied.add('bind /k');
    await it.prepare();
    const [line] = it.log.entries;
    assert.equal(line?.message, 'The root directory cannot be shared for lack of privilege');
    assert.match(String(line?.fields['lost']), /Bidirectional/);
  });

  test('swap refuses the start unless it is allowed', async () => {
    const it = aMachine();
    it.machine.swapText = 'Filename\tType\n/dev/sda2 partition 1 0 -2\n';
    const message = 'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false';
    await assert.rejects(it.prepare(), { message });
    assert.deepEqual(await it.prepare({ failSwapOn: false }), { swapOn: true, tmpfsNoSwap: true });
  });

  test('an older kernel is tried for memory that is not swapped', async () => {
    const it = aMachine();
    assert.equal((await it.prepare({ kernelRelease: '5.14.0-427.el9' })).tmpfsNoSwap, true);
    assert.deepEqual(it.machine.changes, ['rlimit', 'tmpfs noswap below /k']);
    it.machine.denied.add('tmpfs noswap below /k');
    assert.equal((await it.prepare({ kernelRelease: '5.14.0-427.el9' })).tmpfsNoSwap, false);
  });
});

describe("the agent's own score", () => {
  test('is set first, and kept every five minutes', async () => {
    const it = aMachine();
    const [score] = it.create().early;
    await score?.start(it.signal);
    assert.deepEqual(it.machine.changes, ['oom_score_adj -999']);
    it.machine.score = 100;
    await it.clock.advance(299_000);
    assert.equal(it.machine.score, 100);
    await it.clock.advance(2_000);
    assert.equal(it.machine.score, -999);
    assert.equal(it.machine.changes.length, 2, 'what fits is not written');
    await score?.stop();
  });

  test('is kept every minute with kubeletCgroups', async () => {
    const it = aMachine();
    const [score] = it.create({ hasOwnCgroup: true }).early;
    await score?.start(it.signal);
    it.machine.score = 5;
    await it.clock.advance(61_000);
    assert.equal(it.machine.score, -999);
    await score?.stop();
  });

  test('belongs to the runtime in a container', async () => {
    const it = aMachine();
    it.machine.hostPids = false;
    const [score] = it.create().early;
    await score?.start(it.signal);
    it.machine.score = 5;
    await it.clock.advance(600_000);
    assert.equal(it.machine.score, 5);
    await score?.stop();
  });

  test('a missing privilege is named once, with what is lost', async () => {
    const it = aMachine();
    it.machine.denied.add('oom_score_adj -999');
    const [score] = it.create().early;
    await score?.start(it.signal);
    await it.clock.advance(1_200_000);
    assert.deepEqual(it.log.messages(), ['Failed to ApplyOOMScoreAdj']);
    assert.match(String(it.log.entries[0]?.fields['lost']), /kill the agent/);
    await score?.stop();
  });
});

describe('the settings of the kernel', () => {
  const startTunables = async (it: ReturnType<typeof aMachine>, settings: Partial<SetupSettings>): Promise<void> => {
    for (const component of it.create(settings).components) await component.start(it.signal);
  };
  const vary = (it: ReturnType<typeof aMachine>): void => {
    it.machine.values.set('vm/overcommit_memory', '0');
    it.machine.values.set('kernel/panic', '0');
  };

  test('are written where they differ', async () => {
    const it = aMachine();
    vary(it);
    await startTunables(it, {});
    assert.deepEqual(it.machine.changes, ['vm/overcommit_memory 1', 'kernel/panic 10']);
  });

  test('are left alone with keep, even unread', async () => {
    const it = aMachine();
    it.machine.values.clear();
    await startTunables(it, { tunables: 'keep' });
    assert.deepEqual([it.machine.changes, it.log.messages()], [[], []]);
  });

  test('refuse the start with protectKernelDefaults', async () => {
    const it = aMachine();
    vary(it);
    const one = 'invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0';
    const other = 'invalid kernel flag: kernel/panic, expected value: 10, actual value: 0';
    await assert.rejects(startTunables(it, { tunables: 'refuse' }), { message: `[${one}, ${other}]` });
    it.machine.values.set('kernel/panic', '10');
    await assert.rejects(startTunables(it, { tunables: 'refuse' }), { message: one });
    assert.deepEqual(it.machine.changes, []);
  });

  test('that are missing fail the start', async () => {
    const it = aMachine();
    it.machine.values.delete('kernel/keys/root_maxkeys');
    const message = 'open /proc/sys/kernel/keys/root_maxkeys: no such file or directory';
    await assert.rejects(startTunables(it, {}), { message });
  });

  test('that the agent may not write are named together, and survived', async () => {
    const it = aMachine();
    vary(it);
    for (const change of ['vm/overcommit_memory 1', 'kernel/panic 10']) it.machine.denied.add(change);
    await startTunables(it, {});
    assert.deepEqual(it.log.messages(), ['Kernel flags cannot be changed for lack of privilege']);
    assert.deepEqual(it.log.entries[0]?.fields['flags'], [
      'vm/overcommit_memory is 0 instead of 1',
      'kernel/panic is 0 instead of 10',
    ]);
  });

  test('are no news in a namespace of users that the agent expects', async () => {
    const it = aMachine();
    vary(it);
    for (const change of ['vm/overcommit_memory 1', 'kernel/panic 10']) it.machine.denied.add(change);
    it.machine.userNamespace = true;
    await startTunables(it, { expectsUserNamespace: true });
    assert.deepEqual(it.log.messages('warn'), []);
    await startTunables(it, {});
    assert.equal(it.log.messages('warn').length, 1);
  });
});

describe('systemCgroups', () => {
  const kernel = { ofKernel: true };
  const start = async (it: ReturnType<typeof aMachine>, systemCgroups: string) => {
    const { components } = it.create({ systemCgroups });
    for (const component of components) await component.start(it.signal);
    return async () => {
      for (const component of components) await component.stop();
    };
  };
  const place = (
    it: ReturnType<typeof aMachine>,
    pids: readonly (readonly [number, { ofKernel?: boolean }])[],
  ): void => {
    for (const [pid, process] of pids) it.machine.inRoot.set(pid, process);
  };

  test('what runs in the root is moved, but for the first process and threads of the kernel', async () => {
    const it = aMachine();
    place(it, [
      [2, kernel],
      [30, {}],
      [31, {}],
    ]);
    const stop = await start(it, '/system');
    assert.deepEqual(
      [...it.machine.moved],
      [
        [30, '/system'],
        [31, '/system'],
      ],
    );
    assert.deepEqual([...it.machine.inRoot.keys()], [1, 2]);
    await stop();
  });

  test('what comes later is moved within a minute', async () => {
    const it = aMachine();
    const stop = await start(it, 'system/all/');
    place(it, [[40, {}]]);
    await it.clock.advance(61_000);
    assert.deepEqual([...it.machine.moved], [[40, '/system/all']]);
    await stop();
  });

  test('a process that cannot be moved holds up no other, and is named once', async () => {
    const it = aMachine();
    place(it, [
      [30, {}],
      [31, {}],
    ]);
    it.machine.denied.add('move 30');
    const stop = await start(it, '/system');
    await it.clock.advance(181_000);
    assert.deepEqual([...it.machine.moved.keys()], [31]);
    const [line, ...more] = it.log.entries.filter(({ severity }) => severity === 'error');
    assert.equal(line?.message, 'Failed to ensure state');
    assert.match(String(line.error), /failed to move PID 30 into the system container "\/system"/);
    assert.deepEqual(more, []);
    await stop();
  });

  for (const root of ['/', '//']) {
    test(`${root} is refused`, async () => {
      await assert.rejects(start(aMachine(), root), { message: 'system container cannot be root ("/")' });
    });
  }
});
