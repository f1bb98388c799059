import { inTable, type RowDifference } from '../compare-rows.ts';

const everyTier = ['cgroupfs', 'systemd'].flatMap((driver) =>
  ['Guaranteed', 'Burstable', 'BestEffort'].map((qos) => `${driver} / ${qos}`),
);

const scoreTooHigh =
  'the pod asks for less than its containers, which validation refuses; the kernel takes no score above 1000';
const aboveTheHighest = [
  'level-init a',
  'random-03 i',
  'random-03 j',
  'random-03 k',
  'random-03 b',
  'random-20 j',
  'random-20 a',
  'random-20 b',
  'random-31 i',
];
const variants = [
  'v1',
  'v2',
  'v2LimitedSwap',
  'v2MemoryQoS',
  'v2NoSwapController',
  'v2SingleProcessOOMKill',
  'v2WithoutQuota',
];

const exceeds = (resource: string, reserved: string, capacity: string): string =>
  `Resource "${resource}" has a reservation of ${reserved} but capacity of ${capacity}. Expected capacity >= reservation.`;
const tooMuch = (row: string, resource: string, reserved: string, capacity: string) =>
  [row, { invalid: [exceeds(resource, reserved, capacity)] }] as const;

/** Every difference there is. A row that no longer holds makes its test fail, and so does a new one. */
export const differences: readonly RowDifference[] = [
  ...inTable(
    'pods',
    'the cgroup of a pod whose uid has "pod" in it is recognized and removed like any other; there it is left behind',
    everyTier.flatMap((tier) => [
      [`${tier} "podcast"`, { uidBack: 'podcast' }],
      [`${tier} "x-pod-y"`, { uidBack: 'x-pod-y' }],
    ]),
  ),
  ...inTable('parse', 'empty parts of a path say nothing; there they are kept, and systemd cannot have such a name', [
    ['cgroupfs //kubepods//burstable', { components: ['kubepods', 'burstable'] }],
    ['cgroupfs /kubepods/', { components: ['kubepods'] }],
  ]),
  ...inTable('parse', 'no name is the root; there the agent crashes with "/", and means a slice "." with nothing', [
    ['systemd /', { components: [], path: '/', uid: null, panic: undefined }],
    ['systemd ', { components: [], path: '/' }],
  ]),
  ...inTable('parse', 'only what lies below kubepods belongs to a pod; there any name of three parts does', [
    ['cgroupfs /other/pod1', { uid: null }],
    ['cgroupfs /other/x/pod1', { uid: null }],
    ['systemd /x-podruntime.slice', { uid: null }],
  ]),
  ...inTable('parse', 'lines of the log name the pod of a path of either driver, and of what lies below it', [
    ['cgroupfs /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice', { uid: '1-2' }],
    ['cgroupfs /kubepods.slice/kubepods-pod1_2.slice', { uid: '1-2' }],
    ['cgroupfs /kubepods/burstable/pod1/crio', { uid: '1' }],
    ['cgroupfs /kubepods-burstable-podpod1.slice', { uid: 'pod1' }],
    ['systemd /kubepods-burstable-podpod1.slice', { uid: 'pod1' }],
  ]),
  ...inTable(
    'oom-score-adj',
    scoreTooHigh,
    aboveTheHighest.map((row) => [row, [999, 999, 999, 999, 999]] as const),
  ),
  ...inTable(
    'container-resources',
    scoreTooHigh,
    aboveTheHighest.flatMap((row) => variants.map((variant) => [`${row} ${variant}`, { oomScoreAdj: 999 }] as const)),
  ),
  ...inTable(
    'withoutPodLevelGate',
    'with the gate off the API server drops an empty spec.resources; one in a static pod still makes it BestEffort',
    [['level-empty', 'admitted']],
  ),
  ...inTable('node', 'amounts are written as in the configuration; there one reads the fields of a structure', [
    tooMuch('reserved-4', 'ephemeral-storage', '1673741825', '999999999'),
    tooMuch('cpu-too-much', 'cpu', '2100m', '2'),
    tooMuch('memory-too-much', 'memory', '8292Mi', '8345018368'),
    tooMuch('storage-too-much', 'ephemeral-storage', '30Gi', '20Gi'),
    ['two-too-much', { invalid: [exceeds('cpu', '3', '2'), exceeds('memory', '5Gi', '4039012Ki')] }],
  ]),
];
