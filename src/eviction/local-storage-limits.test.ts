import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSpec, Volume } from '../gen/kubernetes/types.ts';
import type { PodStorageUsage } from '../model/usage.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { exceededLimit, storageLimits } from './local-storage-limits.ts';

type Use = Omit<Partial<PodStorageUsage>, 'volumes' | 'containers'> & {
  readonly volumes?: Readonly<Record<string, number>>;
  readonly containers?: Readonly<Record<string, number>>;
};

const limited = (name: string, limit?: string) =>
  aContainer(name, limit === undefined ? {} : { resources: { limits: { 'ephemeral-storage': limit } } });

const spec = (more: Partial<PodSpec>): PodSpec => aPod({ spec: more }).spec;

function outcomeOf(pod: Partial<PodSpec>, { volumes = {}, containers = {}, ...rest }: Use): readonly string[] {
  const limits = storageLimits(spec(pod));
  if (limits === undefined) return ['no limits'];
  const [ofVolumes, ofContainers] = [new Map(Object.entries(volumes)), new Map(Object.entries(containers))];
  const exceeded = exceededLimit(limits, { volumes: ofVolumes, containers: ofContainers, ...rest });
  return exceeded === undefined ? [] : [exceeded.signal, exceeded.message];
}

const scratch = (emptyDir: NonNullable<Volume['emptyDir']>): Partial<PodSpec> => ({
  volumes: [{ name: 'scratch', emptyDir }],
});

const ofVolume = (limit: string, name = 'scratch'): readonly string[] => [
  'emptydirfs.limit',
  `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `,
];
const ofPod = (limit: string): readonly string[] => [
  'ephemeralpodfs.limit',
  `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `,
];
const ofContainer = (name: string, limit: string): readonly string[] => [
  'ephemeralcontainerfs.limit',
  `Container ${name} exceeded its local ephemeral storage limit "${limit}". `,
];

const Mi = 1 << 20;

describe('which limit a pod exceeds', () => {
  const cases: readonly (readonly [what: string, pod: Partial<PodSpec>, use: Use, expected: readonly string[]])[] = [
    ['no limits, much used', { containers: [limited('main')] }, { ephemeral: 1e15 }, ['no limits']],
    ['an emptyDir without a limit', scratch({}), { volumes: { scratch: 1e15 } }, ['no limits']],
    ['a limit of nothing is none', scratch({ sizeLimit: '0' }), { volumes: { scratch: 1e15 } }, ['no limits']],
    ['in memory the file system is the limit', scratch({ medium: 'Memory', sizeLimit: '1Mi' }), {}, ['no limits']],
    ['huge pages likewise', scratch({ medium: 'HugePages-2Mi', sizeLimit: '2Mi' }), {}, ['no limits']],
    ['as much as allowed', scratch({ sizeLimit: '1Mi' }), { volumes: { scratch: Mi } }, []],
    ['a byte more', scratch({ sizeLimit: '1Mi' }), { volumes: { scratch: Mi + 1 } }, ofVolume('1Mi')],
    ['the limit as Go writes it', scratch({ sizeLimit: '1024Ki' }), { volumes: { scratch: 2 * Mi } }, ofVolume('1Mi')],
    ['not measured yet', scratch({ sizeLimit: '1Mi' }), {}, []],
    [
      'the first volume of several',
      {
        volumes: ['a', 'b', 'c'].map((name) => ({ name, emptyDir: { sizeLimit: '1k' } })),
      },
      { volumes: { a: 1_000, b: 1_001, c: 5_000 } },
      ofVolume('1k', 'b'),
    ],
    ['a pod within its limit', { containers: [limited('main', '1Mi')] }, { ephemeral: Mi }, []],
    ['a pod beyond it', { containers: [limited('main', '1Mi')] }, { ephemeral: Mi + 1 }, ofPod('1Mi')],
    [
      'limits of containers add up',
      { containers: [limited('a', '1Mi'), limited('b', '2Mi')] },
      { ephemeral: 3 * Mi + 1 },
      ofPod('3Mi'),
    ],
    [
      'one without a limit adds nothing',
      { containers: [limited('a', '1Mi'), limited('b')] },
      { ephemeral: Mi + 1 },
      ofPod('1Mi'),
    ],
    [
      'the largest init container counts where it is larger',
      { containers: [limited('a', '1Mi')], initContainers: [limited('i', '4Mi')] },
      { ephemeral: 4 * Mi + 1 },
      ofPod('4Mi'),
    ],
    [
      'what the runtime class takes widens the limit',
      { containers: [limited('a', '1Mi')], overhead: { 'ephemeral-storage': '1Mi' } },
      { ephemeral: 2 * Mi + 1 },
      ofPod('2Mi'),
    ],
    ['a pod that is not measured yet', { containers: [limited('main', '1Mi')] }, {}, []],
    [
      'one container, where the pod as a whole is within',
      { containers: [limited('a', '1Mi'), limited('b', '9Mi')] },
      { ephemeral: 5 * Mi, containers: { a: Mi + 1, b: Mi } },
      ofContainer('a', '1Mi'),
    ],
    ['a limit of nothing for a container', { containers: [limited('a', '0')] }, { containers: { a: 5 } }, []],
    [
      'a limit of nothing for the pod',
      { containers: [limited('a', '0')] },
      { ephemeral: 1, containers: { a: 1 } },
      ofPod('0'),
    ],
    [
      'of several the volume is reported, then the pod',
      { ...scratch({ sizeLimit: '1Mi' }), containers: [limited('a', '1Mi')] },
      { volumes: { scratch: 2 * Mi }, ephemeral: 9 * Mi, containers: { a: 7 * Mi } },
      ofVolume('1Mi'),
    ],
  ];
  for (const [what, pod, use, expected] of cases) {
    test(what, () => assert.deepEqual(outcomeOf(pod, use), expected));
  }
});

test('the usage and the limit are in the result', () => {
  const limited = (limit: string) => aContainer('web', { resources: { limits: { 'ephemeral-storage': limit } } });
  const usage = { volumes: new Map([['scratch', 2_000.5]]), containers: new Map([['web', 3_000]]), ephemeral: 0 };
  const cases: readonly (readonly [Partial<PodSpec>, number, string])[] = [
    [scratch({ sizeLimit: '1k' }), 2_001, '1k'],
    [{ containers: [limited('1k')] }, 3_000, '1k'],
  ];
  for (const [pod, used, limit] of cases) {
    const limits = storageLimits(aPod({ spec: pod }).spec) ?? assert.fail('it sets a limit');
    const found = exceededLimit(limits, usage);
    assert.deepEqual([found?.used, found?.limit], [used, limit]);
  }
});
