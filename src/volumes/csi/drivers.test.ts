import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raceAbort } from '../../base/abort.ts';
import { TubeletError } from '../../base/errors.ts';
import type { StorageDriver } from '../../model/storage-driver.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { FakeCsiDriver, type FakeCsiDriverOptions } from '../../testing/fake-csi-driver.ts';
import { MemoryCalls } from '../../testing/memory-calls.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { accessModes } from './driver-capabilities.ts';
import { CsiDrivers } from './drivers.ts';

const endpoint = '/plugins/x/csi.sock';

class DriverWorld {
  readonly clock = new FakeClock();
  readonly registry = new Registry();
  readonly changed: string[] = [];
  readonly recorded: (readonly [string, StorageDriver | undefined])[] = [];
  readonly calls = new MemoryCalls();
  readonly driver: FakeCsiDriver;
  record: (signal: AbortSignal) => Promise<void> = async () => {};
  readonly drivers: CsiDrivers;
  readonly removed = new AbortController();

  constructor(options: FakeCsiDriverOptions = {}) {
    this.driver = new FakeCsiDriver({ name: 'x', clock: this.clock, ...options });
    this.drivers = new CsiDrivers({
      clock: this.clock,
      log: new MemoryLog(),
      metrics: this.registry,
      open: this.driver.open,
      calls: this.calls,
      record: {
        setDriver: async (name, node, signal) => {
          this.recorded.push([name, node]);
          await this.record(signal);
        },
        removeDriver: (name) => void this.recorded.push([name, undefined]),
      },
      changed: { broadcast: (name) => void this.changed.push(name) },
    });
  }

  pluginInfo(versions = ['1.0.0'], at = endpoint) {
    return { name: 'x', endpoint: at, supportedVersions: versions };
  }

  register(versions?: string[], at?: string): Promise<void> {
    return this.drivers.register(this.pluginInfo(versions, at), '/registry/x.sock', this.removed.signal);
  }
}

test('registered: asked about the node, recorded in the cluster, used by volumes; and deregistered', async () => {
  const topology = { 'topology.x/zone': 'a' };
  const world = new DriverWorld({ nodeId: 'n-7', topology, maxVolumes: 9n });
  assert.throws(() => world.drivers.find('x'), {
    kind: 'unavailable',
    message: 'driver name x not found in the list of registered CSI drivers',
  });
  await world.drivers.validate(world.pluginInfo());
  await world.register();
  assert.deepEqual(world.recorded, [['x', { nodeId: 'n-7', topology, maxVolumes: 9 }]]);
  assert.deepEqual(world.changed, ['x']);
  assert.equal(world.drivers.find('x').endpoint, endpoint);

  world.driver.traits.maxVolumes = 1n << 40n;
  await world.drivers.refresh('x', world.removed.signal);
  assert.equal(world.recorded.at(-1)?.[1]?.maxVolumes, 2 ** 31 - 1);
  world.driver.traits.maxVolumes = -1n;
  await world.drivers.refresh('x', world.removed.signal);
  assert.equal(world.recorded.at(-1)?.[1]?.maxVolumes, undefined);

  await world.drivers.deregister('x', '/another/csi.sock');
  assert.deepEqual(world.drivers.names(), ['x'], 'the one that was removed was another');
  await world.drivers.deregister('x', endpoint);
  assert.deepEqual(world.drivers.names(), []);
  assert.deepEqual(world.recorded.at(-1), ['x', undefined]);
  assert.deepEqual(world.changed, ['x', 'x']);
});

test('drivers that are refused, and why', async () => {
  const world = new DriverWorld();
  const refused = (driver: object, words: RegExp) =>
    assert.rejects(world.drivers.validate({ ...world.pluginInfo(), ...driver }), { message: words });
  await refused({ supportedVersions: [] }, /no version 1\.x of CSI \(it says: none\)/);
  await refused({ supportedVersions: ['0.3.0', '2.0.0'] }, /it says: 0\.3\.0, 2\.0\.0/);
  await refused({ name: '../x' }, /driver name "\.\.\/x" must be a DNS name/);
  await refused({ endpoint: 'csi.sock' }, /must be the absolute path/);
  await world.register(['1.2.0']);
  await refused({ supportedVersions: ['1.2.0'] }, /already registered with version 1\.2\.0/);
  await refused({ supportedVersions: ['1.1.9'] }, /already registered/);
  await world.register(['1.3.0'], '/newer/csi.sock');
  assert.equal(world.drivers.get('x')?.endpoint, '/newer/csi.sock');
  await world.drivers.deregister('x', endpoint);
  assert.equal(world.drivers.get('x')?.endpoint, '/newer/csi.sock', 'the older one goes, the newer one stays');
});

test('registration waits for a driver that starts late, two minutes at most', async () => {
  const world = new DriverWorld();
  world.driver.fail('nodeGetInfo', { code: 'UNAVAILABLE', times: 3 });
  const late = world.register();
  await world.clock.advance(500 + 1_000 + 2_000);
  await late;
  assert.equal(world.driver.taken().length, 4);

  const hung = new DriverWorld();
  hung.driver.hang('nodeGetInfo');
  const given = assert.rejects(hung.register(), { code: 'DeadlineExceeded' });
  await hung.clock.settle();
  await assert.rejects(hung.register(), /already registered/, 'the name is taken meanwhile');
  await hung.clock.advance(120_000);
  await given;
  assert.deepEqual([hung.drivers.names(), hung.recorded], [[], []]);

  const left = new DriverWorld();
  left.driver.hang('nodeGetInfo');
  const ended = assert.rejects(left.register(), { code: 'Canceled' });
  await left.clock.settle();
  left.removed.abort();
  await ended;
  assert.equal(left.clock.pending(), 0);

  const broken = new DriverWorld({ nodeId: '' });
  await assert.rejects(broken.register(), /has no id for this node/);
});

test('a cluster that is away gets the record later; a refusal drops the driver', async () => {
  const away = new DriverWorld();
  away.record = (signal) => raceAbort(new Promise<never>(() => {}), signal);
  const slow = away.register();
  await away.clock.settle();
  assert.deepEqual(away.drivers.names(), ['x'], 'volumes need not wait for the cluster');
  await away.clock.advance(10_000);
  await slow;
  assert.deepEqual(away.drivers.names(), ['x']);

  const refusing = new DriverWorld();
  refusing.record = async () => {
    throw new TubeletError('invalid', 'driver x says zone=a, and the node is labelled zone=b');
  };
  await assert.rejects(refusing.register(), /labelled zone=b/);
  assert.deepEqual(refusing.drivers.names(), []);
  assert.deepEqual(refusing.recorded.at(-1), ['x', undefined]);
});

test('calls carry what they are given, end in time, and are measured', async () => {
  const world = new DriverWorld();
  await world.register();
  const client = world.drivers.find('x');
  const volumeCapability = { accessMode: { mode: accessModes.SINGLE_NODE_WRITER }, mount: undefined, block: {} };
  const stagingTargetPath = '/stage';
  await assert.rejects(client.publish({ volumeId: 'v', targetPath: '/t', stagingTargetPath, volumeCapability }), {
    kind: 'conflict',
    code: 'FailedPrecondition',
    message: 'rpc error: code = FailedPrecondition desc = v is not staged at /stage',
  });
  const secrets = { user: 'root' };
  await client.stage({ volumeId: 'v', stagingTargetPath, volumeCapability, secrets });
  await client.publish({ volumeId: 'v', targetPath: '/t', stagingTargetPath, volumeCapability, readonly: true });
  const volume = world.driver.volumes.get('v');
  assert.deepEqual([volume?.staged?.secrets, volume?.published.get('/t')?.readonly], [secrets, true]);
  const { usage } = await client.stats({ volumeId: 'v', volumePath: '/t' });
  assert.deepEqual(usage[0]?.total, 1n << 30n);
  const capacityRange = { requiredBytes: 1n << 31n, limitBytes: 0n };
  assert.equal(await client.expand({ volumeId: 'v', volumePath: '/t', capacityRange }), 1n << 31n);
  await client.unpublish({ volumeId: 'v', targetPath: '/t' });
  await client.unstage({ volumeId: 'v', stagingTargetPath });
  assert.deepEqual(world.driver.volumes.inUse(), []);

  world.driver.slow('nodeStageVolume', 200_000);
  const late = assert.rejects(client.stage({ volumeId: 'v', stagingTargetPath, volumeCapability }), {
    kind: 'timeout',
    message: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
  });
  await world.clock.advance(119_000);
  assert.deepEqual(world.calls.underWay(), ['driver:x NodeStageVolume volumeId=v']);
  await world.clock.advance(1_000);
  await late;
  assert.deepEqual(world.calls.underWay(), []);
  assert.deepEqual(
    [world.calls.ended[0], world.calls.ended.at(-1)],
    ['driver:x NodeGetInfo: ok', 'driver:x NodeStageVolume volumeId=v: timeout DeadlineExceeded'],
  );
  const page = world.registry.render();
  const counted = (method: string, code: string): boolean => {
    const labels = `driver_name="x",grpc_status_code="${code}",method_name="/csi.v1.Node/${method}",migrated="false"`;
    return page.includes(`csi_operations_seconds_count{${labels}} 1`);
  };
  assert.ok(counted('NodeStageVolume', 'OK'));
  assert.ok(counted('NodeStageVolume', 'DeadlineExceeded'));
  assert.ok(counted('NodePublishVolume', 'FailedPrecondition'));
});

test('capabilities are asked once for each connection', async () => {
  const world = new DriverWorld();
  await world.register();
  const client = world.drivers.find('x');
  world.driver.taken();
  const [one, other] = await Promise.all([client.capabilities(), client.capabilities()]);
  assert.ok(one.has('STAGE_UNSTAGE_VOLUME') && other.has('EXPAND_VOLUME'));
  await client.capabilities();
  assert.equal(world.driver.taken().length, 1);

  // It comes back as another version of itself.
  await world.driver.die();
  await assert.rejects(client.capabilities(), { kind: 'unavailable' });
  world.driver.revive();
  world.driver.traits.capabilities = ['VOLUME_MOUNT_GROUP'];
  assert.deepEqual([...(await client.capabilities())], ['VOLUME_MOUNT_GROUP']);

  // A caller that gives up takes nothing from the others.
  await world.driver.die();
  world.driver.revive();
  const release = world.driver.hang('nodeGetCapabilities');
  const caller = new AbortController();
  const given = assert.rejects(client.capabilities({ signal: caller.signal }));
  const waiting = client.capabilities();
  await world.clock.settle();
  caller.abort();
  await given;
  release();
  assert.ok((await waiting).has('VOLUME_MOUNT_GROUP'));
});

test('secrets that a driver was given are masked in its error', async () => {
  const world = new DriverWorld();
  await world.register();
  const token = 'eyJhbGciOiJSUzI1NiJ9';
  const secrets = { user: 'anna', password: 'open-"sesame"' };
  const tokens = JSON.stringify({ vault: { token, expirationTimestamp: '2026-01-01T00:00:00Z' } });
  const volumeContext = { share: 'export-of-all', 'csi.storage.k8s.io/serviceAccount.tokens': tokens };
  const details = `cannot mount export-of-all as anna, open-"sesame", ${JSON.stringify(secrets)}, ${token}, ${JSON.stringify(tokens)}`;
  const masked =
    'cannot mount export-of-all as anna, <masked>, {"user":"anna","password":"<masked>"}, <masked>, "<masked>"';
  const client = world.drivers.find('x');
  for (const [verb, call] of [
    ['nodeStageVolume', () => client.stage({ volumeId: 'v', secrets, volumeContext })],
    ['nodePublishVolume', () => client.publish({ volumeId: 'v', secrets, volumeContext })],
    ['nodeExpandVolume', () => client.expand({ volumeId: 'v', secrets: { ...secrets, token, tokens } })],
  ] as const) {
    world.driver.fail(verb, { code: 'UNAUTHENTICATED', details });
    await assert.rejects(call(), { kind: 'denied', code: 'Unauthenticated', remoteMessage: masked }, verb);
  }
});
