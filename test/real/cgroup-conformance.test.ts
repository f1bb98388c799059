import { systemClock } from '../../src/base/system-clock.ts';
import { readMachineInfo } from '../../src/host/index.ts';
import { cgroupConformance, realBench } from '../../src/testing/cgroup-conformance/index.ts';

/** The version that this machine has. systemd may not be there; with it, the suite runs in a machine of its own. */
const version = readMachineInfo().cgroupVersion;
const clock = systemClock();

cgroupConformance({
  name: `cgroupfs on version ${version}`,
  version,
  driver: 'cgroupfs',
  open: () => realBench({ version, driver: 'cgroupfs', clock, units: undefined }),
});
