import { describe } from 'node:test';
import { check, inSecurity } from '../../testing/translate-pod.ts';

describe('rights', () => {
  check(
    [
      [
        'a group without a user',
        { spec: { securityContext: { runAsGroup: 3000 } } },
        { [inSecurity('runAsGroup')]: { value: '3000' }, [inSecurity('runAsUser')]: {} },
      ],
      [
        'the container before the pod',
        {
          main: { securityContext: { runAsUser: 1 } },
          spec: { securityContext: { runAsUser: 2, runAsGroup: 3, fsGroup: 4 } },
        },
        {
          [inSecurity('runAsUser')]: { value: '1' },
          [inSecurity('runAsGroup')]: { value: '3' },
          [inSecurity('supplementalGroups')]: ['4'],
        },
      ],
      [
        'the file system read-only, no new privileges, nothing but one capability',
        {
          main: {
            securityContext: {
              readOnlyRootFilesystem: true,
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
            },
          },
        },
        {
          [inSecurity('readonlyRootfs')]: true,
          [inSecurity('noNewPrivs')]: true,
          [inSecurity('capabilities')]: { addCapabilities: ['NET_BIND_SERVICE'], dropCapabilities: ['ALL'] },
        },
      ],
      [
        'privileged still has its paths hidden by name',
        { main: { securityContext: { privileged: true, allowPrivilegeEscalation: true } } },
        {
          [inSecurity('privileged')]: true,
          [inSecurity('noNewPrivs')]: undefined,
          [inSecurity('readonlyPaths.length')]: 5,
          [inSecurity('maskedPaths.length')]: 12,
        },
      ],
      [
        'nothing hidden',
        { main: { securityContext: { procMount: 'Unmasked' } } },
        { [inSecurity('maskedPaths')]: undefined, [inSecurity('readonlyPaths')]: undefined },
      ],
      [
        'seccomp of the container before that of the pod',
        {
          main: { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' } } },
          spec: { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
        },
        { [inSecurity('seccomp')]: { profileType: 'Localhost', localhostRef: '{{rootDir}}/seccomp/a/b.json' } },
      ],
      ['seccomp by configuration', { settings: { seccompDefault: true } }, { [inSecurity('seccomp')]: {} }],
      ['seccomp that is not set', {}, { [inSecurity('seccomp')]: { profileType: 'Unconfined' } }],
      [
        'AppArmor in both notations',
        { spec: { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } } } },
        {
          [inSecurity('apparmor')]: { profileType: 'Localhost', localhostRef: 'p' },
          [inSecurity('apparmorProfile')]: 'localhost/p',
        },
      ],
      [
        'SELinux is taken whole',
        {
          main: { securityContext: { seLinuxOptions: { level: 's0:c1' } } },
          spec: { securityContext: { seLinuxOptions: { type: 't', level: 's0' } } },
        },
        { [inSecurity('selinuxOptions')]: { level: 's0:c1' } },
      ],
      [
        'namespaces of the node',
        { spec: { hostNetwork: true, hostPID: true, hostIPC: true } },
        {
          [inSecurity('namespaceOptions')]: {
            network: 'NODE',
            pid: 'NODE',
            ipc: 'NODE',
            usernsOptions: { mode: 'NODE' },
          },
        },
      ],
    ],
    'container',
  );
});
