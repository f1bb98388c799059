import { TubeletError } from '../../base/errors.ts';
import type { CsiDevices, CsiVolumes, VolumePlugin, VolumeRequest } from '../ports.ts';

const folder = 'kubernetes.io~csi';

/**
 * csi: what a driver on the node mounts, inline or behind a claim. Without somebody who speaks with drivers such volumes
 * are refused, and what an earlier agent left of them is left alone: it cannot be unmounted without its driver. Block
 * volumes are another's: they have folders of their own, and nobody mounts them.
 */
export function csi(volumes?: CsiVolumes, devices?: CsiDevices): VolumePlugin {
  const kinds = {
    handles: ({ csi: source }) => source !== undefined,
    handlesClaimed: ({ kind }) => kind === 'csi',
  } satisfies Partial<VolumePlugin>;
  const refuse = async (request: VolumeRequest): Promise<never> =>
    Promise.reject(new TubeletError('unsupported', refusal(request)));
  if (volumes === undefined) return { ...kinds, setUp: refuse };
  const kindOf = ({ claimed }: VolumeRequest): CsiDevices | undefined =>
    claimed?.mode === 'Block' ? devices : volumes;
  return {
    ...kinds,
    folder,
    attachable: (claimed) => volumes.attachable(claimed),
    async setUp(request, signal) {
      const who = kindOf(request);
      return who === undefined ? refuse(request) : who.setUp(request, signal);
    },
    async resize(request, before, signal) {
      await kindOf(request)?.resize?.(request, before, signal);
    },
    tearDown: (place) => volumes.tearDown(place),
    ...(devices && { tearDownDevice: (place) => devices.tearDown(place) }),
  };
}

function refusal({ volume, claimed }: VolumeRequest): string {
  const driver = claimed?.source.kind === 'csi' ? claimed.source.csi.driver : volume.csi?.driver;
  const what = claimed?.mode === 'Block' ? 'speak with CSI drivers about block volumes' : 'speak with CSI drivers';
  return `it needs the CSI driver ${driver ?? ''}, and this version does not ${what}`;
}
