import type { RuntimeSettings } from '../../../model/runtime-settings.ts';
import type { VolumeSettings } from '../../../volumes/volumes-wiring.ts';

/** The settings of volumes, from the configuration and the machine. */
export function volumeSettings(
  ours: Pick<RuntimeSettings, 'nodeName' | 'rootDir' | 'featureGates'>,
  machine: Pick<VolumeSettings, 'tmpfsNoSwap' | 'hasSeLinux'>,
): VolumeSettings {
  const { nodeName, rootDir, featureGates } = ours;
  return { nodeName, rootDir, imageVolumes: featureGates('ImageVolume'), ...machine };
}
