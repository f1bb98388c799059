import { after } from 'node:test';
import { noCalls } from '../../../src/base/calls.ts';
import { silentLog } from '../../../src/base/log.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import { openSystemd } from '../../../src/dbus/index.ts';
import { fdSockets, readMachineInfo } from '../../../src/host/index.ts';
import { cgroupConformance, realBench } from '../../../src/testing/cgroup-conformance/index.ts';

const clock = systemClock();
const ports = { clock, log: silentLog, calls: noCalls };
const systemd = openSystemd({ ...ports, environment: {}, uid: 0, openWithDescriptors: fdSockets(clock) });
after(() => systemd.close());

const version = readMachineInfo().cgroupVersion;

for (const driver of ['cgroupfs', 'systemd'] as const) {
  const units = driver === 'systemd' ? systemd.units : undefined;
  cgroupConformance({
    name: `${driver} on version ${version}`,
    version,
    driver,
    reloads: true,
    open: () => realBench({ version, driver, clock, units }),
  });
}
