import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EmptyDirVolumeSource, PodSpec } from '../../gen/kubernetes/types.ts';
import { emptyDirMedium } from './medium.ts';

const facts = { allocatable: { memory: '1Gi' }, noSwap: true };
const spec = (...limits: readonly (Record<string, string> | undefined)[]): PodSpec => ({
  containers: limits.map((each, index) => ({ name: `c${index}`, ...(each && { resources: { limits: each } }) })),
});
const mib = 2 ** 20;

describe('what an emptyDir is on', () => {
  const rows: readonly (readonly [string, EmptyDirVolumeSource, PodSpec, readonly string[] | 'disk'])[] = [
    ['the disk', {}, spec(), 'disk'],
    ['the disk with a limit, which is not the mount’s', { medium: '', sizeLimit: '1Mi' }, spec(), 'disk'],
    ['all memory of pods', { medium: 'Memory' }, spec({}), ['tmpfs', `size=${1024 * mib}`, 'noswap']],
    ['its own limit', { medium: 'Memory', sizeLimit: '3Mi' }, spec({}), ['tmpfs', `size=${3 * mib}`, 'noswap']],
    [
      'a limit of nothing is none',
      { medium: 'Memory', sizeLimit: '0' },
      spec({}),
      ['tmpfs', `size=${1024 * mib}`, 'noswap'],
    ],
    [
      'the limits of all containers together',
      { medium: 'Memory', sizeLimit: '1Gi' },
      spec({ memory: '2Mi' }, { memory: '3Mi' }),
      ['tmpfs', `size=${5 * mib}`, 'noswap'],
    ],
    [
      'one container without a limit: the pod has none',
      { medium: 'Memory' },
      spec({ memory: '2Mi' }, undefined),
      ['tmpfs', `size=${1024 * mib}`, 'noswap'],
    ],
    [
      'the pod’s own limit',
      { medium: 'Memory' },
      { ...spec(undefined), resources: { limits: { memory: '9Mi' } } },
      ['tmpfs', `size=${9 * mib}`, 'noswap'],
    ],
    [
      'huge pages of the one size there is',
      { medium: 'HugePages' },
      spec({ 'hugepages-2Mi': '4Mi' }),
      ['hugetlbfs', 'pagesize=2Mi', `size=${4 * mib}`],
    ],
    [
      'huge pages of a size',
      { medium: 'HugePages-1Gi' },
      spec({ 'hugepages-2Mi': '4Mi', 'hugepages-1Gi': '1Gi' }),
      ['hugetlbfs', 'pagesize=1Gi', `size=${1024 * mib}`],
    ],
  ];
  for (const [name, source, pod, expected] of rows) {
    test(name, () => {
      const medium = emptyDirMedium(source, pod, facts);
      assert.deepEqual(medium.kind === 'disk' ? 'disk' : [medium.fsType, ...medium.options], expected);
    });
  }

  test('a kernel that cannot keep memory out of swap is not asked to', () => {
    const medium = emptyDirMedium({ medium: 'Memory', sizeLimit: '1' }, spec({}), { ...facts, noSwap: false });
    assert.deepEqual(medium, { kind: 'mount', fsType: 'tmpfs', options: ['size=1'] });
  });

  for (const [medium, pod, message] of [
    ['HugePages', spec({}), /needs a limit of huge pages/],
    ['HugePages', spec({ 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi' }), /several sizes/],
    ['HugePages-2Mi', spec({}), /no limit of hugepages-2Mi/],
    ['Tape', spec({}), /unknown storage medium "Tape"/],
  ] as const) {
    test(`${medium}: ${message.source}`, () => {
      assert.throws(() => emptyDirMedium({ medium }, pod, facts), { message });
    });
  }
});
