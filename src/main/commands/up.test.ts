import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command, CommandIo } from '../command.ts';
import { down } from './down.ts';
import { parseOptions } from './up-options.ts';
import { up } from './up.ts';

const spec = { root: 'value', detach: 'switch' } as const;

const cases: readonly { args: string[]; values: object; faults: string[] }[] = [
  { args: [], values: {}, faults: [] },
  { args: ['--root', '/x', '--detach'], values: { root: '/x', detach: true }, faults: [] },
  { args: ['--root=/x=y'], values: { root: '/x=y' }, faults: [] },
  { args: ['--root'], values: {}, faults: ['--root needs a value'] },
  { args: ['--root='], values: {}, faults: ['--root needs a value'] },
  { args: ['--detach=yes'], values: { detach: true }, faults: ['--detach takes no value'] },
  { args: ['--rooot', 'x'], values: {}, faults: ['unknown flag: --rooot', 'unexpected argument: x'] },
  { args: ['--constructor'], values: {}, faults: ['unknown flag: --constructor'] },
  { args: ['root'], values: {}, faults: ['unexpected argument: root'] },
];
for (const { args, values, faults } of cases) {
  test(`parseOptions: ${args.join(' ') || 'nothing'}`, () =>
    assert.deepEqual(parseOptions(args, spec), { values, faults }));
}

async function run(command: Command, args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const io: CommandIo = {
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    env: {},
    isTerminal: false,
    signal: new AbortController().signal,
  };
  return { code: await command(args, io), out, err };
}

for (const [name, command] of Object.entries({ up, down })) {
  test(`${name}: help and mistakes`, async () => {
    const help = await run(command, ['--help']);
    assert.equal(help.code, 0);
    assert.match(help.out, new RegExp(`^Usage: tubelet ${name}`));
    const wrong = await run(command, ['--bogus']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /unknown flag: --bogus/);
  });
}
