import type { PodSpec, Volume } from '../gen/kubernetes/types.ts';
import { allContainers } from '../model/containers.ts';

/** The volumes that a container of the pod uses; the others need not be there, and may be beyond making. */
export function wantedVolumes(spec: PodSpec): readonly Volume[] {
  const used = new Set(
    allContainers(spec).flatMap(({ container: { volumeMounts = [], volumeDevices = [] } }) =>
      [...volumeMounts, ...volumeDevices].map(({ name }) => name),
    ),
  );
  return (spec.volumes ?? []).filter(({ name }) => used.has(name));
}

/** What a volume is, in the words of its spec. */
export function kindOfVolume(volume: Volume): string {
  const { name: _, ...source } = volume;
  return Object.keys(source)[0] ?? 'none';
}

/** The full name of a volume's kind, as metrics have it; its folder, where it has one, is named by it. */
export function pluginName(volume: Volume, folder: string | undefined): string {
  if (folder !== undefined) return folder.replace('~', '/');
  return `kubernetes.io/${kindOfVolume(volume).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Why a volume of a kind that nobody answers for cannot be had. */
export function refusalOf(volume: Volume): string {
  if (volume.gitRepo !== undefined) {
    return (
      `volume "${volume.name}" is a gitRepo, which is refused by design: it ran git of the node on what others wrote. ` +
      'Use an emptyDir and an init container that clones the repository'
    );
  }
  return `volume "${volume.name}" is of a kind that this version cannot mount: ${kindOfVolume(volume)}`;
}

/** Names in the order of the alphabet, as lists of the error of a pod's volumes have them. */
export function unableToMount(unmounted: readonly string[], unprocessed: readonly string[], why: string): string {
  const list = (names: readonly string[]): string => `[${names.toSorted().join(' ')}]`;
  return (
    `Unable to attach or mount volumes: unmounted volumes=${list(unmounted)}, unattached volumes=[], ` +
    `failed to process volumes=${list(unprocessed)}: ${why}`
  );
}
