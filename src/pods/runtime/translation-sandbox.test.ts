import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { amounts, check, gib, inResources, inSecurity, translate } from '../../testing/translate-pod.ts';

describe('sandbox', () => {
  const host = { servers: ['10.255.255.53'] };
  check(
    [
      [
        'ports on the network of the node',
        {
          main: { ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81, protocol: 'UDP' }] },
          spec: { hostNetwork: true },
        },
        {
          portMappings: [
            { containerPort: 80, hostPort: 80 },
            { protocol: 'UDP', containerPort: 81, hostPort: 81 },
          ],
          hostname: undefined,
          dnsConfig: host,
        },
      ],
      [
        'ports with an address',
        { main: { ports: [{ containerPort: 80, hostPort: 8080, hostIP: '::1', protocol: 'SCTP' }] } },
        { portMappings: [{ protocol: 'SCTP', containerPort: 80, hostPort: 8080, hostIp: '::1' }] },
      ],
      ['a host name of its own', { spec: { hostname: 'h', subdomain: 's' } }, { hostname: 'h' }],
      ['the full name needs a subdomain', { spec: { setHostnameAsFQDN: true } }, { hostname: 'p' }],
      [
        'names resolved by its own servers only',
        {
          spec: {
            dnsPolicy: 'None',
            dnsConfig: { nameservers: ['1.1.1.1'], options: [{ name: 'ndots', value: '1' }, { name: 'rotate' }] },
          },
        },
        { dnsConfig: { servers: ['1.1.1.1'], options: ['ndots:1', 'rotate'] } },
      ],
      [
        'names resolved by the cluster, on the network of the node',
        { spec: { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } },
        {
          dnsConfig: {
            servers: ['10.96.0.10'],
            searches: ['{{namespace}}.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
            options: ['ndots:5'],
          },
        },
      ],
      [
        'an option of the pod without a value takes that of the cluster away',
        { spec: { dnsConfig: { options: [{ name: 'ndots' }] } } },
        { 'dnsConfig.options': ['ndots'] },
      ],
      [
        'the peak of init containers and sidecars',
        {
          main: { resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi' } } },
          spec: {
            initContainers: [
              { name: 'big', resources: { requests: { cpu: '1' }, limits: { memory: '512Mi' } } },
              {
                name: 'side',
                restartPolicy: 'Always',
                resources: { requests: { cpu: '200m' }, limits: { memory: '256Mi' } },
              },
            ],
          },
        },
        { [inResources('cpuShares')]: '1024', [inResources('memoryLimitInBytes')]: String(1.25 * gib) },
      ],
      [
        'the word of the pod as a whole',
        { ...amounts({ cpu: '100m' }), spec: { resources: { requests: { cpu: '2' }, limits: { memory: '3Gi' } } } },
        {
          [inResources('cpuShares')]: '2048',
          [inResources('memoryLimitInBytes')]: String(3 * gib),
          'linux.cgroupParent': '/kubepods/burstable/podu1',
        },
      ],
      [
        'a limit alone',
        amounts(undefined, { cpu: '250m' }),
        {
          [inResources('cpuShares')]: '256',
          [inResources('cpuQuota')]: '25000',
          'linux.cgroupParent': '/kubepods/burstable/podu1',
        },
      ],
      [
        'what the sandbox costs by itself',
        { spec: { overhead: { cpu: '250m', memory: '120Mi' } } },
        {
          'linux.overhead': {
            cpuPeriod: '100000',
            cpuQuota: '25000',
            cpuShares: '256',
            memoryLimitInBytes: '125829120',
          },
        },
      ],
      [
        'the paused process: the pod’s user and groups, the runtime’s profile',
        {
          main: { securityContext: { runAsUser: 9 } },
          spec: {
            securityContext: { runAsUser: 5, fsGroup: 6, supplementalGroups: [7], supplementalGroupsPolicy: 'Strict' },
          },
        },
        {
          [inSecurity('runAsUser')]: { value: '5' },
          [inSecurity('supplementalGroups')]: ['6', '7'],
          [inSecurity('supplementalGroupsPolicy')]: 'Strict',
          [inSecurity('seccomp')]: {},
        },
      ],
      [
        'settings of the kernel',
        { spec: { securityContext: { sysctls: [{ name: 'kernel/shm_rmid_forced', value: '1' }] } } },
        { 'linux.sysctls': { 'kernel.shm_rmid_forced': '1' } },
      ],
    ],
    'sandbox',
  );

  test('a full name that is too long', () => {
    const spec = { hostname: 'h'.repeat(50), subdomain: 'sub', setHostnameAsFQDN: true };
    assert.throws(() => translate({ spec }), {
      message:
        'failed to construct FQDN from pod hostname and cluster domain, FQDN ' +
        `${'h'.repeat(50)}.sub.{{namespace}}.svc.cluster.local is too long (64 characters is the max, ` +
        '86 characters requested)',
    });
  });
});
