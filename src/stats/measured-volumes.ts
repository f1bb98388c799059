import type { PodUid } from '../base/ids.ts';
import type { PodSpec, Volume } from '../gen/kubernetes/types.ts';
import { allContainers } from '../model/containers.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { PodVolume, VolumesOf } from './ports.ts';
import type { PodsOnNode } from './seen-pods.ts';

/** What is mounted of a pod: volume name → where it is on the host. */
type Mounted = ReadonlyMap<string, { readonly hostPath: string; readonly isOfNode?: boolean }>;

export interface MountedVolumes {
  mounted(uid: PodUid): Mounted;
}

/** The volumes of pods that are wanted here. */
export function volumesOfPods(pods: Pick<PodsOnNode, 'desired'>, volumes: MountedVolumes): VolumesOf {
  return (uid) => {
    const pod = pods.desired(uid);
    return pod === undefined ? [] : measuredVolumes(pod, volumes.mounted(uid));
  };
}

/** The volumes of a pod that are worth measuring, of those that are mounted. */
export function measuredVolumes(
  { name, namespace, spec }: Pick<DesiredPod, 'name' | 'namespace' | 'spec'>,
  mounted: Mounted,
): readonly PodVolume[] {
  if (mounted.size === 0) return [];
  const devices = deviceNames(spec);
  const measured: PodVolume[] = [];
  for (const volume of spec.volumes ?? []) {
    const { hostPath: path = '', isOfNode = false } = mounted.get(volume.name) ?? {};
    const isDevice = devices.has(volume.name);
    // A path of the node is the node's, behind a claim too, and an image the runtime's. A device is the claim's alone.
    if (path === '' || (isOfNode && !isDevice)) continue;
    if (volume.hostPath !== undefined || volume.image !== undefined) continue;
    const claim = claimOf(volume, name);
    measured.push({
      name: volume.name,
      path,
      kind: isOnNodeDisk(volume) ? 'ephemeral' : 'persistent',
      ...(isDevice ? { origin: 'device' } : !isOfAgent(volume) && { origin: 'elsewhere' }),
      ...(claim !== undefined && { pvc: { name: claim, namespace } }),
    });
  }
  return measured;
}

function deviceNames(spec: PodSpec): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { container } of allContainers(spec)) {
    for (const { name } of container.volumeDevices ?? []) names.add(name);
  }
  return names;
}

/** Secrets and tokens are in memory, and claims are counted where they come from. */
function isOnNodeDisk({ configMap, gitRepo, emptyDir }: Volume): boolean {
  return configMap !== undefined || gitRepo !== undefined || (emptyDir !== undefined && (emptyDir.medium ?? '') === '');
}

/** What the agent made on its own disk or in memory: reading it cannot hang on another process or server. */
function isOfAgent(volume: Volume): boolean {
  const { secret, projected, downwardAPI, emptyDir } = volume;
  return isOnNodeDisk(volume) || [secret, projected, downwardAPI, emptyDir].some((source) => source !== undefined);
}

/** A claim that lives with the pod is called after both. */
function claimOf({ name, persistentVolumeClaim, ephemeral }: Volume, pod: string): string | undefined {
  return ephemeral === undefined ? persistentVolumeClaim?.claimName : `${pod}-${name}`;
}
