import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EmptyDirVolumeSource, PodSpec } from '../../gen/kubernetes/types.ts';
import { emptyDirMedium } from './medium.ts';

const facts = { allocatable: { memory: '1Gi' }, noSwap: true };
const spec = (...limits: readonly (Record<string, string> | undefined)[]): PodSpec => ({
  containers: limits.map((each, index) => ({ name: `c${index}`, ...(each && { resources: { limits: each } }) })),
});
const mib = 2 ** 20;
const huge = (size: string): readonly string[] => ['hugetlbfs', `pagesize=${size}`];

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
    ['huge pages of the one size there is', { medium: 'HugePages' }, spec({ 'hugepages-2Mi': '4Mi' }), huge('2Mi')],
    [
      'huge pages of a size',
      { medium: 'HugePages-1Gi' },
      spec({ 'hugepages-2Mi': '4Mi', 'hugepages-1Gi': '1Gi' }),
      huge('1Gi'),
    ],
    [
      'the same size, written otherwise',
      { medium: 'HugePages-2048Ki', sizeLimit: '2Mi' },
      spec({ 'hugepages-2Mi': '4Mi' }),
      huge('2Mi'),
    ],
    [
      'the same size of several containers',
      { medium: 'HugePages' },
      spec({ 'hugepages-2Mi': '4Mi' }, { 'hugepages-2Mi': '2Mi', memory: '1Mi' }, {}),
      huge('2Mi'),
    ],
    [
      'those of a container that runs before the others',
      { medium: 'HugePages' },
      { ...spec({}), initContainers: [{ name: 'i', resources: { limits: { 'hugepages-1Gi': '1Gi' } } }] },
      huge('1Gi'),
    ],
    [
      'those that only a request names, as the API server fills it in',
      { medium: 'HugePages-2Mi' },
      { containers: [{ name: 'c', resources: { requests: { 'hugepages-2Mi': '2Mi' } } }] },
      huge('2Mi'),
    ],
    [
      'those of the pod as a whole',
      { medium: 'HugePages' },
      { ...spec({}), resources: { limits: { 'hugepages-2Mi': '2Mi' } } },
      huge('2Mi'),
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

  const none = (medium: string): string =>
    `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`;
  const several = "medium: HugePages can't be used if container requests multiple huge page sizes";
  for (const [medium, pod, message] of [
    ['HugePages', spec({}), none('HugePages')],
    ['HugePages', spec({ 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi' }), several],
    ['HugePages', spec({ 'hugepages-2Mi': '2Mi' }, { 'hugepages-1Gi': '1Gi' }), several],
    ['HugePages-2Mi', spec({}), none('HugePages-2Mi')],
    ['HugePages-1Gi', spec({ 'hugepages-2Mi': '2Mi' }), none('HugePages-1Gi')],
    ['HugePages-', spec({ 'hugepages-2Mi': '2Mi' }), /quantit/],
    ['HugePages-much', spec({ 'hugepages-2Mi': '2Mi' }), /quantit/],
    ['hugepages', spec({ 'hugepages-2Mi': '2Mi' }), 'unknown storage medium "hugepages"'],
    ['Tape', spec({}), 'unknown storage medium "Tape"'],
  ] as const) {
    test(`${medium}: ${String(message)}`, () => {
      assert.throws(() => emptyDirMedium({ medium }, pod, facts), { message });
    });
  }
});
