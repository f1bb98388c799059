import type { RuntimeSettings } from '../../../model/runtime-settings.ts';
import type { VolumeSettings } from '../../../volumes/volumes-wiring.ts';

/** What the configuration and the machine say about volumes. */
export function volumeSettings(
  ours: Pick<RuntimeSettings, 'nodeName' | 'rootDir' | 'featureGates'>,
  machine: Pick<VolumeSettings, 'kernelRelease' | 'hasSeLinux'>,
): VolumeSettings {
  const { nodeName, rootDir, featureGates } = ours;
  return { nodeName, rootDir, imageVolumes: featureGates('ImageVolume'), ...machine };
}
