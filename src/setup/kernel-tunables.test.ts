import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aMachine } from '../testing/setup-world.ts';
import type { SetupSettings } from './create-setup.ts';

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
