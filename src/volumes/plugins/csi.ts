import { TubeletError } from '../../base/errors.ts';
import type { CsiVolumes, VolumePlugin, VolumeRequest } from '../ports.ts';

const folder = 'kubernetes.io~csi';

/**
 * csi: what a driver on the node mounts, inline or behind a claim. Without somebody who speaks with drivers such volumes
 * are refused, and what an earlier agent left of them is left alone: it cannot be unmounted without its driver.
 */
export function csi(volumes?: CsiVolumes): VolumePlugin {
  const kinds = {
    handles: ({ csi: source }) => source !== undefined,
    handlesClaimed: ({ kind }) => kind === 'csi',
  } satisfies Partial<VolumePlugin>;
  if (volumes === undefined) {
    return { ...kinds, setUp: async (request) => Promise.reject(new TubeletError('unsupported', refusal(request))) };
  }
  return {
    ...kinds,
    folder,
    attachable: (claimed) => volumes.attachable(claimed),
    setUp: (request, signal) => volumes.setUp(request, signal),
    tearDown: (place) => volumes.tearDown(place),
  };
}

function refusal({ volume, claimed }: VolumeRequest): string {
  const driver = claimed?.source.kind === 'csi' ? claimed.source.csi.driver : volume.csi?.driver;
  return `it needs the CSI driver ${driver ?? ''}, and this version does not speak with CSI drivers`;
}
