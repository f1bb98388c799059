import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Broadcaster } from '../base/broadcaster.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeCsiDriver } from '../testing/fake-csi-driver.ts';
import { createStorageDrivers } from './create-storage-drivers.ts';
import { noDriverRecord } from './csi/index.ts';
import { commonPorts } from '../testing/common-ports.ts';

test('a driver that registers is found by its name and announced, and again when it goes; the end closes it', async () => {
  const clock = new FakeClock();
  const ports = commonPorts({ clock });
  const driverChanged = new Broadcaster<string>();
  const changed: string[] = [];
  driverChanged.listen((name) => void changed.push(name));
  const driver = new FakeCsiDriver({ name: 'x', clock });
  const { components, drivers, handler } = createStorageDrivers({
    ports,
    signals: { driverChanged },
    open: driver.open,
    record: noDriverRecord,
  });
  const { signal } = new AbortController();
  for (const component of components) await component.start(signal);
  const info = { type: 'CSIPlugin', name: 'x', endpoint: '/x.sock', supportedVersions: ['1.0.0'] };
  await handler.register(info, '/registry/x.sock', signal);
  assert.deepEqual([drivers.names(), changed], [['x'], ['x']]);
  await handler.deregister('x', '/x.sock');
  assert.deepEqual([drivers.names(), changed], [[], ['x', 'x']]);
  await handler.register(info, '/registry/x.sock', signal);
  for (const component of components) await component.stop();
  assert.equal(drivers.get('x'), undefined);
});
