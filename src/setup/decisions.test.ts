import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MountPropagation } from './ports.ts';
import { sharingOf } from './root-sharing.ts';
import { isSwapOn, noSwapAnswer } from './swap.ts';

describe('sharing of the root directory', () => {
  const mount = (mountPoint: string, ...optionalFields: string[]): MountPropagation => ({ mountPoint, optionalFields });
  const rows: readonly (readonly [string, readonly MountPropagation[], ReturnType<typeof sharingOf>])[] = [
    ['the machine is shared', [mount('/', 'shared:1')], { kind: 'shared' }],
    ['the machine is private', [mount('/')], { kind: 'bind' }],
    ['a slave is not shared', [mount('/', 'master:1')], { kind: 'bind' }],
    ['a slave may be shared, too', [mount('/', 'master:1', 'shared:3')], { kind: 'shared' }],
    ['the last mount that holds it counts', [mount('/var'), mount('/', 'shared:1')], { kind: 'shared' }],
    ['a private disk on a shared machine', [mount('/', 'shared:1'), mount('/var')], { kind: 'bind' }],
    ['bound onto itself and shared', [mount('/'), mount('/var/k', 'shared:9')], { kind: 'shared' }],
    ['a name that only begins alike', [mount('/', 'shared:1'), mount('/var/k2')], { kind: 'shared' }],
    [
      'volumes of an earlier life are not hidden',
      [mount('/'), mount('/var/k/pods/u/volumes/v')],
      { kind: 'inUse', below: '/var/k/pods/u/volumes/v' },
    ],
    [
      'volumes on a shared root',
      [mount('/'), mount('/var/k', 'shared:9'), mount('/var/k/pods/v', 'shared:10')],
      { kind: 'shared' },
    ],
  ];
  for (const [name, mounts, expected] of rows) {
    test(name, () => assert.deepEqual(sharingOf('/var/k', mounts), expected));
  }
});

describe('swap', () => {
  const head = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n';
  const rows: readonly (readonly [string | undefined, boolean])[] = [
    [undefined, false],
    ['', false],
    [head, false],
    [`${head}\n\n`, false],
    [`${head}/dev/sda2 partition 8388604 0 -2\n`, true],
  ];
  for (const [text, expected] of rows) {
    test(`${JSON.stringify(text)} is ${expected ? 'on' : 'off'}`, () => assert.equal(isSwapOn(text), expected));
  }

  const kernels: readonly (readonly [string, boolean, ReturnType<typeof noSwapAnswer>])[] = [
    ['5.15.0-91-generic', false, 'try'],
    ['6.3.13', false, 'try'],
    ['6.4.0', false, 'yes'],
    ['6.18.44-fc', false, 'yes'],
    ['7.0', false, 'yes'],
    ['7.0', true, 'no'],
    ['unknown', false, 'try'],
  ];
  for (const [kernel, inUserNamespace, expected] of kernels) {
    test(`noswap on ${kernel}${inUserNamespace ? ' in a user namespace' : ''}: ${expected}`, () =>
      assert.equal(noSwapAnswer(kernel, inUserNamespace), expected));
  }
});
