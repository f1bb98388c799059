import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { MountPropagation } from '../../gen/cri/api.ts';
import type { PodSecurityContext, VolumeMount } from '../../gen/kubernetes/types.ts';
import {
  computeBlockDevices,
  computeMounts,
  computeSubPaths,
  wantsHostsFile,
  type MountsInput,
} from './compute-mounts.ts';

function input(volumeMounts: readonly VolumeMount[], overrides: Partial<MountsInput> = {}): MountsInput {
  return {
    pod: { uid: podUid('u'), spec: { containers: [] } },
    container: { name: 'c', volumeMounts, terminationMessagePath: '/dev/termination-log' },
    volumes: new Map([
      ['data', { hostPath: '/v/data', selinuxRelabel: true }],
      ['conf', { hostPath: '/v/conf', readOnly: true }],
      ['claim', { hostPath: '/v/pv', innerName: 'pv-1' }],
      [
        'img',
        { hostPath: '', image: { image: 'sha256:1', annotations: {}, userSpecifiedImage: 'i', runtimeHandler: '' } },
      ],
    ]),
    env: [
      { key: 'POD', value: 'p' },
      { key: 'EMPTY', value: '' },
    ],
    rootDir: '/root',
    selinuxEnabled: false,
    recursiveReadOnly: true,
    files: {},
    ...overrides,
  };
}

const podWith = (securityContext: PodSecurityContext): MountsInput['pod'] => ({
  uid: podUid('u'),
  spec: { containers: [], securityContext },
});

function mountsOf(given: MountsInput) {
  const made = computeMounts(given);
  if ('refusal' in made) assert.fail(made.refusal.message);
  return made;
}

function refusalOf(made: object): string | undefined {
  return 'refusal' in made ? (made.refusal as { message: string }).message : undefined;
}

test('volumes in their order, then the files of the agent', () => {
  const files = { etcHosts: '/root/hosts', terminationLog: '/root/log' };
  const made = mountsOf(
    input(
      [
        { name: 'data', mountPath: 'rel' },
        { name: 'conf', mountPath: '/c' },
      ],
      { files },
    ),
  );
  assert.deepEqual(
    made.map(({ containerPath, hostPath, readonly }) => [containerPath, hostPath, readonly]),
    [
      ['/rel', '/v/data', false],
      ['/c', '/v/conf', true],
      ['/etc/hosts', '/root/hosts', false],
      ['/dev/termination-log', '/root/log', false],
    ],
  );
});

test('propagation and relabelling', () => {
  const mounts = (selinuxEnabled: boolean) =>
    mountsOf(
      input(
        [
          { name: 'data', mountPath: '/a', mountPropagation: 'Bidirectional' },
          { name: 'conf', mountPath: '/b', mountPropagation: 'HostToContainer' },
          { name: 'conf', mountPath: '/d' },
        ],
        { selinuxEnabled },
      ),
    );
  assert.deepEqual(
    mounts(true).map(({ propagation }) => propagation),
    [
      MountPropagation.PROPAGATION_BIDIRECTIONAL,
      MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
      MountPropagation.PROPAGATION_PRIVATE,
    ],
  );
  assert.deepEqual(
    mounts(true).map(({ selinuxRelabel }) => selinuxRelabel),
    [true, false, false],
  );
  assert.deepEqual(
    mounts(false).map(({ selinuxRelabel }) => selinuxRelabel),
    [false, false, false],
  );
});

describe('mounts that get SELinux labels', () => {
  const mount = (name: string, more: Partial<VolumeMount> = {}): VolumeMount => ({ name, mountPath: '/a', ...more });
  const options = { seLinuxOptions: { level: 's0:c1,c2' } };
  const rows: readonly (readonly [string, VolumeMount, Partial<MountsInput>, boolean])[] = [
    ['a volume that takes them', mount('data'), {}, true],
    ['one that does not', mount('conf'), {}, false],
    ['an image, which the runtime mounts itself', mount('img'), {}, false],
    ['a part of a volume', mount('data', { subPath: 'x' }), {}, true],
    ['a part of one that does not', mount('claim', { subPath: 'x' }), {}, false],
    ['a mount that only reads', mount('data', { readOnly: true }), {}, true],
    ['a mount that others see', mount('data', { mountPropagation: 'Bidirectional' }), {}, true],
    // Whose label it is, and whether a privileged container has one, is for the runtime to say.
    [
      'a privileged container',
      mount('data'),
      { container: { name: 'c', securityContext: { privileged: true } } },
      true,
    ],
    ['a container with a label', mount('data'), { container: { name: 'c', securityContext: options } }, true],
    ['a pod with a label', mount('data'), { pod: podWith(options) }, true],
    ['a pod that wants no mount option', mount('data'), { pod: podWith({ seLinuxChangePolicy: 'Recursive' }) }, true],
    ['a pod that wants one', mount('data'), { pod: podWith({ seLinuxChangePolicy: 'MountOption' }) }, true],
    ['a pod of the host', mount('data'), { pod: { uid: podUid('u'), spec: { containers: [], hostPID: true } } }, true],
  ];
  for (const [name, volumeMount, more, expected] of rows) {
    test(name, () => {
      const given = input([], more);
      const container = { ...given.container, volumeMounts: [volumeMount] };
      const relabels = (selinuxEnabled: boolean): readonly boolean[] =>
        mountsOf({ ...given, container, selinuxEnabled }).map(({ selinuxRelabel }) => selinuxRelabel);
      assert.deepEqual(relabels(true), [expected]);
      assert.deepEqual(relabels(false), [false], 'never where there is no SELinux');
    });
  }

  test('the files of the agent', () => {
    const files = { etcHosts: '/root/hosts', terminationLog: '/root/log' };
    for (const selinuxEnabled of [true, false]) {
      const made = mountsOf(input([], { files, selinuxEnabled }));
      assert.deepEqual(
        made.map(({ selinuxRelabel }) => selinuxRelabel),
        [selinuxEnabled, selinuxEnabled],
      );
    }
  });
});

test('parts of volumes are bound first, under the index of their mount', () => {
  const given = input([
    { name: 'data', mountPath: '/a' },
    { name: 'claim', mountPath: '/b', subPath: 'x/y' },
    { name: 'conf', mountPath: '/d', subPathExpr: 'dir-$(POD)' },
  ]);
  assert.deepEqual(
    mountsOf(given).map(({ hostPath }) => hostPath),
    ['/v/data', '/root/pods/u/volume-subpaths/pv-1/c/1', '/root/pods/u/volume-subpaths/conf/c/2'],
  );
  assert.deepEqual(computeSubPaths(given), [
    {
      volumeName: 'pv-1',
      volumePath: '/v/pv',
      subPath: 'x/y',
      values: [],
      target: '/root/pods/u/volume-subpaths/pv-1/c/1',
      readOnly: false,
    },
    {
      volumeName: 'conf',
      volumePath: '/v/conf',
      subPath: 'dir-p',
      values: ['p'],
      target: '/root/pods/u/volume-subpaths/conf/c/2',
      readOnly: true,
    },
  ]);
});

test('an image is mounted by the runtime', () => {
  const [mount] = mountsOf(input([{ name: 'img', mountPath: '/i', subPath: 'sub' }]));
  assert.deepEqual(
    [mount?.image?.image, mount?.imageSubPath, mount?.hostPath, mount?.readonly],
    ['sha256:1', 'sub', '', true],
  );
  assert.deepEqual(computeSubPaths(input([{ name: 'img', mountPath: '/i', subPath: 'sub' }])), []);
});

test('what cannot be mounted', () => {
  const cases: readonly (readonly [VolumeMount, string])[] = [
    [{ name: 'none', mountPath: '/a' }, 'cannot find volume "none" to mount into container "c"'],
    [{ name: 'data', mountPath: '/a', subPath: '/abs' }, 'error SubPath `/abs` must not be an absolute path'],
    [
      { name: 'data', mountPath: '/a', subPath: 'a/../b' },
      "unable to provision SubPath `a/../b`: must not contain '..'",
    ],
    // The values of variables may be secret.
    [
      { name: 'data', mountPath: '/a', subPathExpr: '../$(POD)' },
      "unable to provision SubPath `../$(POD)`: must not contain '..'",
    ],
    [{ name: 'data', mountPath: '/a', subPathExpr: '/$(POD)' }, 'error SubPath `/$(POD)` must not be an absolute path'],
    [{ name: 'data', mountPath: '/a', mountPropagation: 'Sideways' }, 'invalid MountPropagation mode: "Sideways"'],
    [
      { name: 'data', mountPath: '/a', recursiveReadOnly: 'Enabled' },
      'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is not ' +
        'read-only',
    ],
    [{ name: 'data', mountPath: '/a', subPathExpr: '$(Z)$(EMPTY)$(A)' }, 'missing value for A, EMPTY, Z'],
  ];
  for (const [mount, message] of cases) assert.equal(refusalOf(computeMounts(input([mount]))), message);
});

test('read-only with all below', () => {
  const mount: VolumeMount = { name: 'data', mountPath: '/a', readOnly: true, recursiveReadOnly: 'IfPossible' };
  const recursive = (supported: boolean, changed: Partial<VolumeMount> = {}) =>
    computeMounts(input([{ ...mount, ...changed }], { recursiveReadOnly: supported }));
  const flags = (made: ReturnType<typeof recursive>) => ('refusal' in made ? 'refused' : made[0]?.recursiveReadOnly);
  assert.equal(flags(recursive(true)), true);
  assert.equal(flags(recursive(false)), false);
  assert.equal(flags(recursive(true, { recursiveReadOnly: 'Disabled' })), false);
  assert.equal(flags(recursive(false, { recursiveReadOnly: 'Enabled' })), 'refused');
  assert.equal(flags(recursive(true, { readOnly: false })), 'refused');
  assert.equal(flags(recursive(true, { mountPropagation: 'Bidirectional' })), 'refused');
});

test('a container with a hosts file of its own gets none', () => {
  assert.equal(wantsHostsFile({ name: 'c' }, ['10.0.0.1']), true);
  assert.equal(wantsHostsFile({ name: 'c' }, []), false);
  assert.equal(
    wantsHostsFile({ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/etc/hosts' }] }, ['10.0.0.1']),
    false,
  );
});

test('block volumes are devices', () => {
  const { volumes } = input([]);
  const container = (name: string) => ({ name: 'c', volumeDevices: [{ name, devicePath: '/dev/x' }] });
  assert.deepEqual(computeBlockDevices({ container: container('conf'), volumes }), [
    { hostPath: '/v/conf', containerPath: '/dev/x', permissions: 'r' },
  ]);
  assert.equal(
    refusalOf(computeBlockDevices({ container: container('none'), volumes })),
    'cannot find volume "none" to pass into container "c"',
  );
});

test('a path longer than any path can be is refused', () => {
  const env = [{ key: 'A', value: 'x'.repeat(4_000) }];
  const made = computeMounts(input([{ name: 'data', mountPath: '/m', subPathExpr: '$(A)$(A)' }], { env }));
  assert.match(refusalOf(made) ?? '', /longer than 4096 characters/);
});
