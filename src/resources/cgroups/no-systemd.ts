import { TubeletError } from '../../base/errors.ts';
import type { SystemdUnits } from '../../model/systemd-units.ts';

async function absent(): Promise<never> {
  const remedy = 'boot this machine with systemd, or set cgroupDriver: cgroupfs here and in the runtime';
  const message = `systemd not running on this host, cannot use systemd cgroups manager; ${remedy}`;
  throw new TubeletError('unsupported', message);
}

/** The units of a machine that was not booted with systemd. */
export const noSystemd: SystemdUnits = {
  version: async () => undefined,
  startTransientUnit: absent,
  setUnitProperties: absent,
  stopUnit: absent,
};
