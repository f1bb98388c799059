import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodePrograms } from '../../host/index.ts';
import type { ProgramResult } from '../../model/program-calls.ts';
import { idLimit } from './id-blocks.ts';
import { computeIdSpace, readIdSpace } from './read-id-space.ts';

const k64 = 65_536;
const said = (stdout: string): ProgramResult => ({ code: 0, stdout, stderr: '' });
const failed = (code: number, stderr = ''): ProgramResult => ({ code, stdout: '', stderr });
const entry = said('kubelet:x:900:900::/:/usr/sbin/nologin\n');
const range = said('0: kubelet 131072 7208960\n');

/** Asks with programs that answer so; one that is not named is not installed. */
async function ask(programs: Readonly<Record<string, ProgramResult>>, blockLength = k64) {
  const asked: string[] = [];
  const reading = await readIdSpace(
    {
      run: async (program, args) => {
        const line = [program, ...args].join(' ');
        asked.push(line);
        return programs[line];
      },
    },
    blockLength,
  );
  return { reading, asked };
}

describe('what the machine says', () => {
  const byDefault = { space: { first: k64, end: idLimit, blockLength: k64 }, origin: 'default' };
  const user = { 'getent passwd kubelet': entry };
  const both = { 'getsubids kubelet': range, 'getsubids -g kubelet': range };

  test('without a user kubelet: everything above the host’s ids', async () => {
    const { reading, asked } = await ask({ 'getent passwd kubelet': failed(2), ...both });
    assert.deepEqual(reading, byDefault);
    assert.deepEqual(asked, ['getent passwd kubelet']);
    assert.deepEqual((await ask({})).reading, byDefault);
  });

  test('without getsubids the same', async () => assert.deepEqual((await ask(user)).reading, byDefault));

  test('longer blocks begin at their own length', async () => {
    const { reading } = await ask({}, 4 * k64);
    assert.deepEqual(reading, { ...byDefault, space: { first: 4 * k64, end: idLimit, blockLength: 4 * k64 } });
  });

  test('the subordinate ids of the user', async () => {
    const { reading, asked } = await ask({ ...user, ...both });
    assert.deepEqual(reading, {
      space: { first: 131_072, end: 131_072 + 7_208_960, blockLength: k64 },
      origin: 'getsubids',
    });
    assert.deepEqual(asked, ['getent passwd kubelet', 'getsubids kubelet', 'getsubids -g kubelet']);
  });

  const troubles: readonly (readonly [string, Readonly<Record<string, ProgramResult>>, RegExp])[] = [
    [
      'a lookup that fails',
      { 'getent passwd kubelet': failed(1, 'no\n database') },
      /getent ended with exit code 1: no database$/,
    ],
    [
      'no ranges',
      { ...both, 'getsubids kubelet': failed(1, 'Error fetching ranges\n') },
      /getsubids ended .* 1: Error fetching ranges$/,
    ],
    ['no ranges of groups', { ...both, 'getsubids -g kubelet': failed(1) }, /getsubids ended with exit code 1$/],
    [
      'users and groups apart',
      { ...both, 'getsubids -g kubelet': said('0: kubelet 65536 65536\n') },
      /differ; give both the same range$/,
    ],
  ];
  for (const [name, programs, problem] of troubles) {
    test(name, async () => {
      const { reading } = await ask({ ...user, ...programs });
      assert.match('problem' in reading ? reading.problem : 'none', problem);
    });
  }
});

describe('the line of getsubids', () => {
  const table: readonly (readonly [string, number, RegExp | { readonly first: number; readonly end: number }])[] = [
    ['0: kubelet 65536 65536', k64, { first: k64, end: 2 * k64 }],
    ['0: kubelet 65536 7208960\n\n', k64, { first: k64, end: 7_274_496 }],
    ['0: kubelet   1048576\t2097152', 16 * k64, { first: 16 * k64, end: 48 * k64 }],
    ['0: kubelet 65536 4294901760', k64, { first: k64, end: idLimit }],
    ['', k64, /must have one range of subordinate ids, not 0$/],
    ['0: kubelet 65536 65536\n1: kubelet 262144 65536', k64, /must have one range of subordinate ids, not 2$/],
    ['0: kubelet 65536', k64, /said "0: kubelet 65536", which is no range of ids$/],
    ['0: kubelet 65536 many', k64, /no range of ids$/],
    ['0: kubelet 65536 -65536', k64, /no range of ids$/],
    ['0: kubelet 65536 9999999999', k64, /no range of ids$/],
    ['0: kubelet 65536 65536 65536', k64, /no range of ids$/],
    ['0: kubelet 0 65536', k64, /must begin at 65536 or above: those below are the host's$/],
    ['0: kubelet 100000 65536', k64, /must begin at and be a multiple of 65536, the ids that a pod gets$/],
    ['0: kubelet 65536 65537', k64, /multiple of 65536/],
    ['0: kubelet 65536 262144', 2 * k64, /multiple of 131072/],
    ['0: kubelet 65536 0', k64, /are none$/],
  ];
  for (const [output, blockLength, expected] of table) {
    test(JSON.stringify(output), () => {
      const reading = computeIdSpace(output, blockLength);
      if (expected instanceof RegExp) assert.match('problem' in reading ? reading.problem : 'none', expected);
      else assert.deepEqual(reading, { space: { ...expected, blockLength }, origin: 'getsubids' });
    });
  }
});

describe('programs of this machine', () => {
  test('answer and exit code', async () => {
    const script = 'process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 2';
    assert.deepEqual(await nodePrograms.run(process.execPath, ['-e', script]), {
      code: 2,
      stdout: 'out',
      stderr: 'err',
    });
    assert.deepEqual(await nodePrograms.run(process.execPath, ['-e', '']), { code: 0, stdout: '', stderr: '' });
  });

  test('one that is not there', async () => {
    assert.equal(await nodePrograms.run('no-such-program-of-this-machine', []), undefined);
  });

  test('one that is killed', async () => {
    const script = 'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)';
    await assert.rejects(nodePrograms.run(process.execPath, ['-e', script]), { kind: 'unavailable' });
  });
});
