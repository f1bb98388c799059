import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noCalls } from '../../src/base/calls.ts';
import { silentLog } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { connectCri } from '../../src/cri/index.ts';
import { criConformance, type Habit } from '../../src/testing/cri-conformance/index.ts';
import { startPrivateRuntime } from '../../src/testing/private-runtime.ts';
import { runtimeUnderTest, type RuntimeName } from '../support/runtime-under-test.ts';

const clock = systemClock();
const { name, software, cgroupDriver } = runtimeUnderTest();
/** docs/runtimes.md has them for users. */
const habits: Readonly<Record<RuntimeName, readonly Habit[]>> = {
  'containerd-1.6': [],
  'containerd-2.4': [],
  'cri-o': [
    'taken names are answered',
    'creation tries the program',
    'commands do not fail',
    'streams are not checked',
    'created containers are stopped',
    'some failures have no code',
    'kills are announced',
    'stopping moves the end',
  ],
};
const ends: (() => Promise<void> | void)[] = [];

criConformance({
  name: `${name}, ${cgroupDriver}`,
  async setup() {
    const folder = await mkdtemp(join(tmpdir(), 'tubelet-cri-'));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const root = join(folder, 'runtime');
    const runtime = await startPrivateRuntime({ root, log: silentLog, clock, software, cgroupDriver });
    ends.push(() => runtime.destroy());
    const logs = join(folder, 'logs');
    await mkdir(logs);
    const cri = connectCri({
      calls: noCalls,
      endpoint: runtime.endpoint,
      clock,
      log: silentLog,
      timeouts: { requestMs: 120_000 },
    });
    ends.push(() => cri.close());
    const { images, cgroupRoot } = runtime;
    return { cri, clock, image: images.busybox, folder: logs, cgroupParent: cgroupRoot, habits: habits[name] };
  },
  async teardown() {
    for (const end of ends.splice(0).toReversed()) await end();
  },
});
