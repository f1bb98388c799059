import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aMachine } from '../testing/setup-world.ts';

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
