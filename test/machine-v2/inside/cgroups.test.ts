import { after } from 'node:test';
import { noCalls } from '../../../src/base/calls.ts';
import { silentLog } from '../../../src/base/log.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import { openSystemd } from '../../../src/dbus/index.ts';
import { fdSockets } from '../../../src/host/index.ts';
import { cgroupConformance, realBench } from '../../../src/testing/cgroup-conformance/index.ts';

const clock = systemClock();
const ports = { clock, log: silentLog, calls: noCalls };
const systemd = openSystemd({ ...ports, environment: {}, uid: 0, openWithDescriptors: fdSockets(clock) });
after(() => systemd.close());

for (const driver of ['cgroupfs', 'systemd'] as const) {
  const units = driver === 'systemd' ? systemd.units : undefined;
  cgroupConformance({
    name: `${driver} on version 2`,
    version: 2,
    driver,
    reloads: true,
    open: () => realBench({ version: 2, driver, clock, units }),
  });
}
