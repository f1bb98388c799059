import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Broadcaster } from '../base/broadcaster.ts';
import { systemClock } from '../base/system-clock.ts';
import { unixChannels } from '../grpc/index.ts';
import { registryFiles } from '../host/plugin-registry-files.ts';
import { FakeCsiDriver } from '../testing/fake-csi-driver.ts';
import { serveFakeRegistration } from '../testing/fake-registration.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { createStorageDrivers } from '../volumes/create-storage-drivers.ts';
import { noDriverRecord } from '../volumes/csi/index.ts';
import { createPlugins } from './create-plugins.ts';
import { commonPorts } from '../testing/common-ports.ts';

/** Everything real but the driver: files, watches, sockets, gRPC and time. */
async function world(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'plugins-'));
  const registry = join(folder, 'plugins_registry');
  const clock = systemClock();
  const open = unixChannels(clock);
  const log = new MemoryLog();
  const waiting: (() => void)[] = [];
  const news = new Broadcaster<string>();
  news.listen(() => {
    for (const resolve of waiting.splice(0)) resolve();
  });
  const ports = commonPorts({ clock, random: seededRandom(3), log });
  const signals = { driverChanged: news };
  const { components, drivers, handler } = createStorageDrivers({ ports, signals, open, record: noDriverRecord });
  const handlers = { CSIPlugin: handler };
  const plugins = createPlugins({ ports, settings: { rootDir: folder }, files: registryFiles, open, handlers });
  const parts = [...components, ...plugins.components];
  context.after(async () => {
    for (const part of parts.toReversed()) await part.stop();
    await rm(folder, { recursive: true, force: true });
  });
  /** A driver comes or goes. */
  const changed = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));
  const start = async (): Promise<void> => {
    for (const part of parts) await part.start(new AbortController().signal);
  };
  return { folder, registry, drivers, start, changed };
}

test('a driver registers, goes, and comes back, over real sockets', async (context) => {
  const { folder, registry, drivers, start, changed } = await world(context);
  const driver = new FakeCsiDriver({ name: 'hostpath.csi.example.com' });
  context.after(() => driver.die());
  const endpoint = join(folder, 'csi.sock');
  await driver.serve(endpoint);

  // Made before the agent starts, beside what is none of its business.
  await mkdir(join(registry, 'sub'), { recursive: true });
  await writeFile(join(registry, 'notes.txt'), '');
  await symlink('nowhere', join(registry, 'broken.sock'));
  const before = await driver.register(join(registry, 'sub', 'driver-reg.sock'), endpoint);
  context.after(() => before.close());
  const status = before.nextStatus();
  await start();
  assert.deepEqual(await status, { pluginRegistered: true, error: '' });
  assert.deepEqual(drivers.names(), [driver.name]);
  assert.equal((await drivers.find(driver.name).node()).nodeId, 'node-1');

  const left = changed();
  await before.close();
  await left;
  assert.deepEqual(drivers.names(), []);

  const after = await driver.register(join(registry, 'driver-reg.sock'), endpoint);
  context.after(() => after.close());
  assert.deepEqual(await after.nextStatus(), { pluginRegistered: true, error: '' });
  assert.deepEqual(drivers.names(), [driver.name]);

  // A second one of that name and version is notified that it is one too many.
  const second = await driver.register(join(registry, 'second.sock'), endpoint);
  context.after(() => second.close());
  const refusal = await second.nextStatus();
  assert.equal(refusal.pluginRegistered, false);
  assert.match(refusal.error, /already registered with version 1\.0\.0/);
});

test('others register beside one that never answers', async (context) => {
  const { folder, registry, drivers, start } = await world(context);
  const driver = new FakeCsiDriver();
  context.after(() => driver.die());
  await driver.serve(join(folder, 'csi.sock'));
  await start();
  const hung = await serveFakeRegistration(join(registry, 'hung.sock'), {});
  hung.hang('getInfo', true);
  context.after(() => hung.close());
  const unknown = await serveFakeRegistration(join(registry, 'odd.sock'), { type: 'TeaPlugin', name: 'x' });
  context.after(() => unknown.close());
  const status = unknown.nextStatus();
  const well = await driver.register(join(registry, 'well.sock'), join(folder, 'csi.sock'));
  context.after(() => well.close());
  const [odd, fine] = await Promise.all([status, well.nextStatus()]);
  assert.match(odd.error, /no handler registered for plugin type "TeaPlugin"/);
  assert.equal(fine.pluginRegistered, true);
  assert.deepEqual(drivers.names(), [driver.name]);
});
