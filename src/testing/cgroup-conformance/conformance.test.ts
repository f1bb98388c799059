import { cgroupConformance, fakeBench } from './index.ts';

for (const version of [1, 2] as const) {
  for (const driver of ['cgroupfs', 'systemd'] as const) {
    const name = `${driver} on version ${version}, in memory`;
    cgroupConformance({ name, version, driver, open: async () => fakeBench(version, driver) });
  }
}
