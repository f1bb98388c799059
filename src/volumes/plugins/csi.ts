import type { CsiDevices, CsiVolumes, VolumePlugin, VolumeRequest } from '../ports.ts';

const folder = 'kubernetes.io~csi';

/**
 * csi: what a driver on the node mounts, inline or behind a claim. `devices` handles block volumes, which have folders of
 * their own and are not mounted.
 */
export function csi(volumes: CsiVolumes, devices: CsiDevices): VolumePlugin {
  const kindOf = ({ claimed }: VolumeRequest): CsiDevices => (claimed?.mode === 'Block' ? devices : volumes);
  return {
    folder,
    handles: ({ csi: source }) => source !== undefined,
    handlesClaimed: ({ kind }) => kind === 'csi',
    attachable: (claimed) => volumes.attachable(claimed),
    setUp: (request, signal) => kindOf(request).setUp(request, signal),
    resize: async (request, before, signal) => kindOf(request).resize?.(request, before, signal),
    tearDown: (place) => volumes.tearDown(place),
    tearDownDevice: (place) => devices.tearDown(place),
  };
}
