import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aMachine } from '../testing/setup-world.ts';

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
