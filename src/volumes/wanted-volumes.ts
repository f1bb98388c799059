import { cutText } from '../base/cut-text.ts';
import type { PodSpec, Volume } from '../gen/kubernetes/types.ts';
import { allContainers } from '../model/containers.ts';
import type { ClaimedVolume } from './claims/claimed-volume.ts';
import { refusedClaim, refusedKind } from './refused-kinds.ts';

/** The volumes that a container of the pod uses. The manager does not set up the others. */
export function wantedVolumes(spec: PodSpec): readonly Volume[] {
  const used = new Set(
    allContainers(spec).flatMap(({ container: { volumeMounts = [], volumeDevices = [] } }) =>
      [...volumeMounts, ...volumeDevices].map(({ name }) => name),
    ),
  );
  return (spec.volumes ?? []).filter(({ name }) => used.has(name));
}

/** The field of the spec that names the volume's kind. */
function kindOfVolume(volume: Volume): string {
  const { name: _, ...source } = volume;
  return Object.keys(source)[0] ?? 'none';
}

/** The full name of a volume's kind, as metrics have it; its folder, where it has one, is named by it. */
export function pluginName(volume: Volume, folder: string | undefined, claimed?: ClaimedVolume): string {
  if (folder !== undefined) return folder.replace('~', '/');
  const kind = claimed?.source.kind ?? kindOfVolume(volume);
  return `kubernetes.io/${kind.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Why the agent refuses a volume that no plugin handles. */
export function refusalOf(volume: Volume): string {
  return isClaim(volume) ? refusedClaim(volume.name) : refusedKind(volume.name, kindOfVolume(volume));
}

/** Only the API server knows the PersistentVolume behind such a volume. */
export function isClaim({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return persistentVolumeClaim !== undefined || ephemeral !== undefined;
}

/** Bounds each list of volume names, so that a message still shows the reason behind it. */
const maxListBytes = 2 * 1_024;

/** Upstream's message; volume names are sorted. */
export function unableToMount(unmounted: readonly string[], unprocessed: readonly string[], reason: string): string {
  const list = (names: readonly string[]): string => `[${cutText(names.toSorted().join(' '), maxListBytes)}]`;
  return cutText(
    `Unable to attach or mount volumes: unmounted volumes=${list(unmounted)}, unattached volumes=[], ` +
      `failed to process volumes=${list(unprocessed)}: ${reason}`,
  );
}
