import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CSIDriver, PodSpec } from '../../gen/kubernetes/types.ts';
import { aClaimedVolume } from '../../testing/persistent-volumes.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import type { DriverCapability } from './driver-capabilities.ts';
import {
  driverTokenSpecs,
  fsGroupChoice,
  isAttachRequired,
  lifecycleProblem,
  podInfo,
  seLinuxContext,
  seLinuxOption,
  tokenContext,
  type FsGroupChoice,
  type FsGroupInput,
} from './driver-spec.ts';
import { blockCapability, mountCapability } from './volume-capability.ts';
import { csiVolumeSpec, publishRequest, stageRequest } from './volume-spec.ts';

const driver = (spec: CSIDriver['spec']): CSIDriver => ({ metadata: { name: 'd' }, spec });
const pod = aPod({ name: 'web', namespace: 'shop', uid: 'uid-1', spec: { serviceAccountName: 'clerk' } });
const can = (...capabilities: readonly DriverCapability[]): ReadonlySet<DriverCapability> => new Set(capabilities);

test('volumes are attached unless the driver says otherwise', () => {
  const answers = [undefined, driver({}), driver({ attachRequired: true }), driver({ attachRequired: false })];
  assert.deepEqual(answers.map(isAttachRequired), [true, true, true, false]);
});

test('lifecycleProblem', () => {
  const both = driver({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] });
  const inline = driver({ volumeLifecycleModes: ['Ephemeral'] });
  assert.equal(lifecycleProblem('d', undefined, 'Persistent'), undefined);
  assert.equal(lifecycleProblem('d', both, 'Ephemeral'), undefined);
  assert.equal(
    lifecycleProblem('d', undefined, 'Ephemeral'),
    'volume mode "Ephemeral" not supported by driver d (no CSIDriver object)',
  );
  const only = (modes: string): string => `not supported by driver d (only supports [${modes}])`;
  assert.equal(lifecycleProblem('d', driver({}), 'Ephemeral'), `volume mode "Ephemeral" ${only('"Persistent"')}`);
  assert.equal(lifecycleProblem('d', inline, 'Persistent'), `volume mode "Persistent" ${only('"Ephemeral"')}`);
});

describe('fsGroupChoice', () => {
  const noChange: FsGroupChoice = { by: 'none' };
  const agent: FsGroupChoice = { by: 'agent', gid: 7 };
  const usual: FsGroupInput = { fsGroup: 7, readOnly: false, fsType: 'ext4', accessModes: ['ReadWriteOnce'] };
  const cases: readonly (readonly [string, Partial<FsGroupInput>, CSIDriver['spec'], FsGroupChoice])[] = [
    ['a pod without a group', { fsGroup: undefined }, { fsGroupPolicy: 'File' }, noChange],
    ['by default a file system that one node writes to', {}, {}, agent],
    ['the same, said aloud', {}, { fsGroupPolicy: 'ReadWriteOnceWithFSType' }, agent],
    ['one that one pod writes to', { accessModes: ['ReadWriteOncePod'] }, {}, agent],
    ['one that is shared as well', { accessModes: ['ReadOnlyMany', 'ReadWriteOnce'] }, {}, agent],
    ['one that many write to', { accessModes: ['ReadWriteMany'] }, {}, noChange],
    ['none of a known file system', { fsType: '' }, {}, noChange],
    ['none of a known file system, unset', { fsType: undefined }, {}, noChange],
    ['an inline volume', { accessModes: undefined }, {}, agent],
    ['read only', { readOnly: true }, { fsGroupPolicy: 'File' }, noChange],
    [
      'a driver that takes care of nothing',
      { accessModes: ['ReadWriteMany'], fsType: '' },
      { fsGroupPolicy: 'File' },
      agent,
    ],
    ['a driver that wants none', {}, { fsGroupPolicy: 'None' }, noChange],
  ];
  for (const [what, more, spec, choice] of cases) {
    test(what, () => assert.deepEqual(fsGroupChoice({ ...usual, ...more }, driver(spec), can()), choice));
  }
  test('a driver that can do it does it, whatever the policy', () => {
    const choice = fsGroupChoice(usual, driver({ fsGroupPolicy: 'None' }), can('VOLUME_MOUNT_GROUP'));
    assert.deepEqual(choice, { by: 'driver', gid: 7 });
    assert.deepEqual(fsGroupChoice({ ...usual, fsGroup: undefined }, undefined, can('VOLUME_MOUNT_GROUP')), noChange);
  });
});

test('the pod’s info, where the driver asks for it', () => {
  assert.deepEqual(podInfo(driver({}), pod, 'Persistent'), {});
  assert.deepEqual(podInfo(driver({ podInfoOnMount: true }), pod, 'Ephemeral'), {
    'csi.storage.k8s.io/pod.name': 'web',
    'csi.storage.k8s.io/pod.namespace': 'shop',
    'csi.storage.k8s.io/pod.uid': 'uid-1',
    'csi.storage.k8s.io/serviceAccount.name': 'clerk',
    'csi.storage.k8s.io/ephemeral': 'true',
  });
});

test('tokens, by audience', () => {
  const tokenRequests = [{ audience: 'vault', expirationSeconds: 600 }, { audience: '' }];
  const tokens = driverTokenSpecs(driver({ tokenRequests }), pod);
  const usual = { namespace: 'shop', serviceAccount: 'clerk', pod: { name: 'web', uid: 'uid-1' } };
  assert.deepEqual(Object.fromEntries(tokens), {
    vault: { ...usual, audiences: ['vault'], expirationSeconds: 600 },
    '': { ...usual, audiences: [], expirationSeconds: 3_600 },
  });
  const token = (value: string) => ({ value, expiresAtMs: Date.UTC(2025, 0, 2) });
  const context = tokenContext(new Map([...tokens.keys()].map((audience) => [audience, token(`of ${audience}`)])));
  const time = '2025-01-02T00:00:00Z';
  assert.deepEqual(context, {
    'csi.storage.k8s.io/serviceAccount.tokens':
      `{"":{"token":"of ","expirationTimestamp":"${time}"},` +
      `"vault":{"token":"of vault","expirationTimestamp":"${time}"}}`,
  });
  assert.deepEqual(tokenContext(new Map()), {});
});

describe('seLinuxContext', () => {
  const level = 's0:c1,c2';
  const container = (name: string, own?: string) =>
    aContainer(name, {
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      ...(own !== undefined && { securityContext: { seLinuxOptions: { level: own } } }),
    });
  const labelled = driver({ seLinuxMount: true });
  const alone = ['ReadWriteOncePod'];
  const using = (spec: Partial<PodSpec>) => aPod({ spec: { containers: [container('main')], ...spec } });
  const whole = using({ securityContext: { seLinuxOptions: { level } } });

  test('of the pod, or of all containers that use it', () => {
    const label = 'system_u:object_r:container_file_t:s0:c1,c2';
    assert.equal(seLinuxContext(labelled, alone, whole, 'v'), label);
    assert.equal(seLinuxContext(labelled, alone, using({ containers: [container('a', level)] }), 'v'), label);
    assert.equal(seLinuxOption(label), 'context="system_u:object_r:container_file_t:s0:c1,c2"');
  });
  const none: readonly (readonly [string, CSIDriver, readonly string[], ReturnType<typeof using>])[] = [
    ['a driver that does not say that it can', driver({}), alone, whole],
    ['a volume that pods may share', labelled, ['ReadWriteOnce'], whole],
    ['a volume with more than one mode', labelled, ['ReadWriteOncePod', 'ReadOnlyMany'], whole],
    ['a pod without a level', labelled, alone, using({})],
    [
      'containers that do not agree',
      labelled,
      alone,
      using({ containers: [container('a', 's0'), container('b', 's1')] }),
    ],
  ];
  for (const [what, object, modes, who] of none) {
    test(`none for ${what}`, () => assert.equal(seLinuxContext(object, modes, who, 'v'), undefined));
  }
});

describe('what a driver is asked', () => {
  const claimed = aClaimedVolume(
    {
      kind: 'csi',
      csi: {
        driver: 'd',
        volumeHandle: 'h',
        readOnly: true,
        volumeAttributes: { kind: 'fast' },
        nodeStageSecretRef: { namespace: 'n', name: 's' },
      },
    },
    { mountOptions: ['noatime'] },
  );
  const volume = { name: 'v', persistentVolumeClaim: { claimName: 'data' } };

  test('how a volume is used', () => {
    const traits = { accessModes: ['ReadWriteOnce', 'ReadWriteMany'], mountOptions: ['noatime'], mountGroup: 7 };
    assert.deepEqual(mountCapability(traits, can()), {
      mount: { fsType: '', mountFlags: ['noatime'], volumeMountGroup: '7' },
      accessMode: { mode: 1 },
    });
    assert.deepEqual(mountCapability({ accessModes: [], fsType: 'xfs' }, can('SINGLE_NODE_MULTI_WRITER')), {
      mount: { fsType: 'xfs', mountFlags: [], volumeMountGroup: '' },
      accessMode: { mode: 7 },
    });
    assert.deepEqual(blockCapability(['ReadWriteMany'], can()), { block: {}, accessMode: { mode: 5 } });
  });

  test('about a claim: the pod says whether it only reads', () => {
    const spec = csiVolumeSpec({ pod, volume, claimed });
    const capability = mountCapability({ accessModes: [] }, can());
    const facts = { target: '/t', context: { device: '/dev/x' }, capability, secrets: { key: 'k' } };
    assert.deepEqual(stageRequest(spec, facts), {
      volumeId: 'h',
      publishContext: { device: '/dev/x' },
      stagingTargetPath: '/t',
      volumeCapability: capability,
      secrets: { key: 'k' },
      volumeContext: { kind: 'fast' },
    });
    assert.deepEqual(publishRequest(spec, { ...facts, staging: '/s', podContext: { who: 'pod' } }), {
      volumeId: 'h',
      publishContext: { device: '/dev/x' },
      stagingTargetPath: '/s',
      targetPath: '/t',
      volumeCapability: capability,
      readonly: false,
      secrets: { key: 'k' },
      volumeContext: { kind: 'fast', who: 'pod' },
    });
    assert.equal(csiVolumeSpec({ pod, volume, claimed: { ...claimed, readOnly: true } }).readOnly, true);
  });

  test('about an inline volume: its secret is of the pod’s namespace', () => {
    const inline = { name: 'v', csi: { driver: 'd', readOnly: true, nodePublishSecretRef: { name: 's' } } };
    const spec = csiVolumeSpec({ pod, volume: inline });
    assert.deepEqual(
      [spec.lifecycle, spec.readOnly, spec.publishSecret],
      ['Ephemeral', true, { namespace: 'shop', name: 's' }],
    );
    assert.match(spec.handle, /^csi-[0-9a-f]{64}$/);
  });

  test('two volumes that would have one folder are refused', () => {
    const both = aPod({ spec: { volumes: [volume, { name: claimed.name, csi: { driver: 'd' } }] } });
    assert.throws(() => csiVolumeSpec({ pod: both, volume, claimed }), { kind: 'conflict' });
  });
});
