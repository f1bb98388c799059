import { systemClock } from '../../../src/base/system-clock.ts';
import { cgroupConformance, realBench } from '../../../src/testing/cgroup-conformance/index.ts';

const clock = systemClock();

cgroupConformance({
  name: 'cgroupfs on version 2',
  version: 2,
  driver: 'cgroupfs',
  open: () => realBench({ version: 2, driver: 'cgroupfs', clock, units: undefined }),
});
