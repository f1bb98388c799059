import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noCalls } from '../../base/calls.ts';
import { TubeletError } from '../../base/errors.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from '../../gen/kubernetes/types.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { FakeCsiDriver, type FakeCsiDriverOptions } from '../../testing/fake-csi-driver.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aClaim, aClaimedVolume, aPersistentVolume, MemoryClaims } from '../../testing/persistent-volumes.ts';
import { aPod } from '../../testing/pods.ts';
import type { ClaimedVolume } from '../claims/claimed-volume.ts';
import type { VolumeRequest } from '../ports.ts';
import { reportedFailure } from '../volume-failures.ts';
import { accessModes } from './driver-capabilities.ts';
import { DriverClient } from './driver-client.ts';
import { VolumeExpander } from './expand-volumes.ts';

const never = new AbortController().signal;
const staging = '/staging';
const target = '/pods/uid-1/mount';
const capability = { block: {}, accessMode: { mode: accessModes.SINGLE_NODE_WRITER } };
const place = { volumePath: target, stagingPath: staging, capability };
const pendingStatus: PersistentVolumeClaimStatus = {
  phase: 'Bound',
  capacity: { storage: '1Gi' },
  allocatedResources: { storage: '2Gi' },
  allocatedResourceStatuses: { storage: 'NodeResizePending' },
  conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
};
const succeeded =
  'Normal FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv-data" node-1';
const two = 2n << 30n;

/** A claim of 1Gi to a volume that has become 2Gi, staged and published by a driver. */
async function setUp({
  status = pendingStatus,
  requested = '2Gi',
  readOnly = false,
  ...options
}: FakeCsiDriverOptions & { status?: PersistentVolumeClaimStatus; requested?: string; readOnly?: boolean } = {}) {
  const clock = new FakeClock();
  const driver = new FakeCsiDriver({ name: 'd', clock, ...options });
  const client = new DriverClient({
    calls: noCalls,
    clock,
    open: driver.open,
    called: () => {},
    name: 'd',
    endpoint: '/d.sock',
  });
  await client.stage({ volumeId: 'h', stagingTargetPath: staging, volumeCapability: capability });
  await client.publish({
    volumeId: 'h',
    stagingTargetPath: staging,
    targetPath: target,
    volumeCapability: capability,
  });
  driver.taken();
  const api = new MemoryClaims();
  const spec = { ...aClaim('data').spec, resources: { requests: { storage: requested } } };
  const metadata = { ...aClaim('data').metadata, resourceVersion: '1' };
  api.objects.set('persistentvolumeclaims/data', aClaim('data', { metadata, spec, status }));
  const source = { driver: 'd', volumeHandle: 'h', nodeExpandSecretRef: { namespace: 'ns', name: 's' } };
  const volume = aPersistentVolume('data', { csi: source, capacity: { storage: '2Gi' } });
  const events = new MemoryEvents();
  const onClaim: string[] = [];
  const deps = {
    clock,
    log: new MemoryLog(),
    api,
    drivers: { find: () => client },
    secrets: { get: async (namespace: string, name: string) => ({ key: `${namespace}/${name}` }) },
    events,
    claimEvents: {
      record: (about: { readonly kind?: string; readonly name?: string }, { reason }: { readonly reason: string }) =>
        void onClaim.push(`${about.kind} ${about.name} ${reason}`),
    },
  };
  const claim = (): PersistentVolumeClaim => api.objects.get('persistentvolumeclaims/data') as PersistentVolumeClaim;
  const claimed = (): ClaimedVolume =>
    aClaimedVolume({ kind: 'csi', csi: source }, { readOnly, objects: { claim: claim(), volume } });
  const request = (): VolumeRequest => ({
    pod: aPod({ spec: { nodeName: 'node-1', containers: [] } }),
    volume: { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
    claimed: claimed(),
  });
  const expander = new VolumeExpander(deps);
  /** As it was when it was mounted: of 1Gi. */
  const before = aClaimedVolume(
    { kind: 'csi', csi: source },
    { objects: { claim: aClaim('data'), volume: aPersistentVolume('data', { capacity: { storage: '1Gi' } }) } },
  );
  return {
    api,
    claim,
    driver,
    events,
    expander,
    onClaim,
    deps,
    size: () => driver.volumes.get('h')?.sizeBytes,
    mount: (by = expander) => by.whileMounting(request(), place, never),
    online: (by = expander) => by.online(request(), before, place, never),
  };
}

const settled: PersistentVolumeClaimStatus = {
  phase: 'Bound',
  capacity: { storage: '2Gi' },
  allocatedResources: { storage: '2Gi' },
};
const patched = 'patch persistentvolumeclaims/data/status';

describe('before a pod gets the volume', () => {
  test('the driver gets all it needs, the claim its status, the pod its event', async () => {
    const world = await setUp();
    await world.mount();
    const [asked] = world.driver.calls.filter(({ verb }) => verb === 'nodeExpandVolume');
    assert.deepEqual(asked?.request, {
      volumeId: 'h',
      volumePath: target,
      stagingTargetPath: staging,
      capacityRange: { requiredBytes: two, limitBytes: 0n },
      volumeCapability: { ...capability, mount: undefined },
      secrets: { key: 'ns/s' },
    });
    assert.equal(world.size(), two);
    assert.deepEqual(world.claim().status, { ...settled, conditions: [] });
    assert.deepEqual(world.api.asked, [patched, patched]);
    assert.deepEqual(world.events.take(), [succeeded]);
    assert.deepEqual(world.onClaim, ['PersistentVolumeClaim data FileSystemResizeSuccessful']);
    await world.mount();
    assert.deepEqual(world.driver.taken(), ['nodeGetCapabilities', 'nodeExpandVolume']);
  });

  test('a volume that is large enough needs no call', async () => {
    const world = await setUp({ status: settled });
    await world.mount();
    assert.deepEqual([world.driver.taken(), world.api.asked, world.events.take()], [[], [], []]);
  });

  test('a read-only one stays as it is, with an event', async () => {
    const world = await setUp({ readOnly: true });
    await world.mount();
    assert.deepEqual([world.driver.taken(), world.api.asked], [[], []]);
    await world.online();
    assert.deepEqual(world.events.take(), [
      'Warning FileSystemResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv-data" requested read-only file system',
    ]);
  });

  test('a driver that does not expand on nodes: only the claim’s status is written', async () => {
    const world = await setUp({ capabilities: ['STAGE_UNSTAGE_VOLUME'] });
    await world.mount();
    assert.deepEqual(world.driver.taken(), ['nodeGetCapabilities']);
    assert.deepEqual(world.claim().status, { ...settled, conditions: [] });
  });

  test('an older resizer: the claim’s status is written at the end only', async () => {
    const world = await setUp({ status: { phase: 'Bound', capacity: { storage: '1Gi' } } });
    await world.mount();
    assert.deepEqual(world.api.asked, [patched]);
    assert.deepEqual(world.claim().status, { phase: 'Bound', capacity: { storage: '2Gi' } });
  });

  test('a final refusal delays the pod once; an infeasible size is not retried', async () => {
    const world = await setUp();
    world.driver.fail('nodeExpandVolume', { code: 'OUT_OF_RANGE', details: 'too large' });
    const error = await world.mount().catch((reason: unknown) => reason);
    assert.equal(
      reportedFailure('pv-data', error).error.message,
      'MountVolume.Setup failed while expanding volume for volume "pv-data" : ' +
        'Expander.NodeExpand failed to expand the volume : rpc error: code = OutOfRange desc = too large',
    );
    assert.equal(world.claim().status?.allocatedResourceStatuses?.['storage'], 'NodeResizeInfeasible');
    assert.deepEqual(
      world.claim().status?.conditions?.map(({ type }) => type),
      ['FileSystemResizePending', 'NodeResizeError'],
    );
    await world.mount();
    assert.equal(world.driver.taken().filter((verb) => verb === 'nodeExpandVolume').length, 1);
  });

  test('a claim that asks for another size meanwhile is infeasible with the second refusal', async () => {
    const world = await setUp({ requested: '3Gi' });
    world.driver.fail('nodeExpandVolume', { code: 'INTERNAL', times: 2 });
    await assert.rejects(world.mount());
    assert.equal(world.claim().status?.allocatedResourceStatuses?.['storage'], 'NodeResizeInProgress');
    await assert.rejects(world.mount());
    assert.equal(world.claim().status?.allocatedResourceStatuses?.['storage'], 'NodeResizeInfeasible');
  });

  test('an uncertain failure is retried, and the claim’s status is not written', async () => {
    const world = await setUp();
    world.driver.fail('nodeExpandVolume', { code: 'UNAVAILABLE', afterwards: true });
    await assert.rejects(world.mount(), { kind: 'unavailable' });
    assert.deepEqual(world.claim().status?.conditions, pendingStatus.conditions);
    await world.mount();
    assert.deepEqual([world.claim().status?.capacity, world.size()], [{ storage: '2Gi' }, two]);
  });

  test('a volume in use that cannot grow serves the pod as it is', async () => {
    const world = await setUp();
    world.driver.fail('nodeExpandVolume', { code: 'FAILED_PRECONDITION', details: 'in use', times: 9 });
    await world.mount();
    await world.online();
    await world.online();
    assert.equal(world.driver.taken().filter((verb) => verb === 'nodeExpandVolume').length, 1);
    world.expander.forget('pv-data');
    await world.online();
    assert.deepEqual(world.driver.taken(), ['nodeExpandVolume']);
  });
});

describe('while pods use the volume', () => {
  test('it grows while they run', async () => {
    const world = await setUp();
    await world.online();
    assert.deepEqual([world.size(), world.events.take()], [two, [succeeded]]);
    assert.deepEqual(world.claim().status?.capacity, { storage: '2Gi' });
  });

  test('what another node has written into the claim is done here too', async () => {
    const world = await setUp({ status: settled });
    await world.online();
    assert.deepEqual([world.size(), world.api.asked], [two, []]);
    world.driver.taken();
    await world.online();
    assert.deepEqual([world.driver.taken(), world.events.take()], [[], [succeeded]]);
  });
});

test('killed after each step: the next agent reaches the same result', async () => {
  const whole = await setUp();
  await whole.mount();
  const steps = whole.api.asked.length + 1;
  for (let step = 1; step <= steps; step++) {
    for (const when of ['before', 'after'] as const) {
      const world = await setUp();
      let left = step;
      const dies = async <T>(work: () => Promise<T>): Promise<T> => {
        const isLast = --left === 0;
        if (isLast && when === 'before') throw new TubeletError('cancelled', 'killed');
        const answer = await work();
        if (isLast) throw new TubeletError('cancelled', 'killed');
        return answer;
      };
      const client = world.deps.drivers.find();
      const mortal = new VolumeExpander({
        ...world.deps,
        api: { patch: (...args) => dies(() => world.api.patch(...args)) },
        drivers: {
          find: () => ({
            capabilities: (options) => client.capabilities(options),
            expand: (...args) => dies(() => client.expand(...args)),
          }),
        },
      });
      await assert.rejects(world.mount(mortal), /killed/);
      await world.mount();
      assert.deepEqual([world.size(), world.claim().status], [two, { ...settled, conditions: [] }], `${when} ${step}`);
    }
  }
});
