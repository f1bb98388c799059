import { describe } from 'node:test';
import { amounts, check, gib, inResources } from '../../testing/translate-pod.ts';

describe('amounts', () => {
  check(
    [
      [
        'nothing asked for',
        {},
        {
          [inResources('cpuShares')]: '2',
          [inResources('cpuPeriod')]: '100000',
          [inResources('cpuQuota')]: undefined,
          [inResources('oomScoreAdj')]: '1000',
        },
      ],
      [
        'one thousandth',
        amounts({ cpu: '1m' }, { cpu: '1m' }),
        { [inResources('cpuShares')]: '2', [inResources('cpuQuota')]: '1000' },
      ],
      ['rounded down', amounts({ cpu: '999m' }), { [inResources('cpuShares')]: '1022' }],
      [
        'a fraction',
        amounts({ cpu: '0.1' }, { cpu: '1.5' }),
        { [inResources('cpuShares')]: '102', [inResources('cpuQuota')]: '150000' },
      ],
      ['less than a thousandth is one', amounts({ cpu: '0.0001' }), { [inResources('cpuShares')]: '2' }],
      ['more than any machine has', amounts({ cpu: '1000' }), { [inResources('cpuShares')]: '262144' }],
      [
        'a limit alone is the request too',
        amounts(undefined, { cpu: '500m', memory: '64M' }),
        {
          [inResources('cpuShares')]: '512',
          [inResources('cpuQuota')]: '50000',
          [inResources('memoryLimitInBytes')]: '64000000',
          [inResources('memorySwapLimitInBytes')]: '64000000',
          [inResources('oomScoreAdj')]: '-997',
        },
      ],
      [
        'a request of nothing beside a limit',
        amounts({ cpu: '0' }, { cpu: '1' }),
        { [inResources('cpuShares')]: '2', [inResources('cpuQuota')]: '100000' },
      ],
      [
        'memory in parts of a byte',
        amounts(undefined, { memory: '1500m' }),
        { [inResources('memoryLimitInBytes')]: '2' },
      ],
      [
        'memory with an exponent',
        amounts(undefined, { memory: '1e8' }),
        { [inResources('memoryLimitInBytes')]: '100000000' },
      ],
      ['a request in proportion to the node', amounts({ memory: '2Gi' }), { [inResources('oomScoreAdj')]: '750' }],
      ['a request of almost nothing', amounts({ memory: '1' }), { [inResources('oomScoreAdj')]: '999' }],
      ['a request of more than there is', amounts({ memory: '16Gi' }), { [inResources('oomScoreAdj')]: '3' }],
      [
        'storage does not make a class',
        amounts({ 'ephemeral-storage': '1Gi' }),
        { [inResources('oomScoreAdj')]: '1000' },
      ],
      [
        'huge pages',
        amounts(undefined, { 'hugepages-2Mi': '4Mi', memory: '1Mi', cpu: '1' }),
        {
          [inResources('hugepageLimits')]: [{ pageSize: '2MB', limit: '4194304' }, { pageSize: '1GB' }],
          [inResources('oomScoreAdj')]: '-997',
        },
      ],
      [
        'no quota where it is switched off',
        { ...amounts({ cpu: '1' }, { cpu: '1' }), settings: { cpuCfsQuota: false } },
        {
          [inResources('cpuQuota')]: undefined,
          [inResources('cpuPeriod')]: undefined,
          [inResources('cpuShares')]: '1024',
        },
      ],
      [
        'the limit of the pod binds a container without one',
        { spec: { resources: { limits: { cpu: '1', memory: '1Gi' } } } },
        {
          [inResources('cpuShares')]: '1024',
          [inResources('cpuQuota')]: '100000',
          [inResources('memoryLimitInBytes')]: String(gib),
          [inResources('oomScoreAdj')]: '-997',
        },
      ],
      [
        'what the pod asks for beyond its containers is shared',
        {
          spec: {
            containers: [{ name: 'main', resources: { requests: { memory: '1Gi' } } }, { name: 'other' }],
            resources: { requests: { memory: '3Gi' } },
          },
        },
        { [inResources('oomScoreAdj')]: '750' },
      ],
      [
        'a sidecar is not killed before those it serves',
        {
          which: 'side',
          spec: {
            initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '1Mi' } } }],
            containers: [{ name: 'main', resources: { requests: { memory: '4Gi' } } }],
          },
        },
        { [inResources('oomScoreAdj')]: '500' },
      ],
    ],
    'container',
  );
});
