import type { CSIDriver, SELinuxOptions } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { allContainers } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { effectiveSecurityContext } from '../../model/security-context.ts';
import { tokenSpec, type TokenSpec } from '../../model/token-spec.ts';
import type { DriverCapability } from './driver-capabilities.ts';
import type { VolumeLifecycle } from './volume-data.ts';

/** A driver's CSIDriver object; undefined where the cluster has none. */
export type DriverObject = Pick<CSIDriver, 'spec'> | undefined;

/** A driver without an object has its volumes attached. */
export function isAttachRequired(driver: DriverObject): boolean {
  return driver?.spec.attachRequired !== false;
}

/** Why the driver does not support such volumes; undefined where it does. */
export function lifecycleProblem(name: string, driver: DriverObject, lifecycle: VolumeLifecycle): string | undefined {
  const refused = `volume mode "${lifecycle}" not supported by driver ${name}`;
  if (driver === undefined) return lifecycle === 'Persistent' ? undefined : `${refused} (no CSIDriver object)`;
  const modes = driver.spec.volumeLifecycleModes ?? ['Persistent'];
  const list = modes.map((mode) => `"${mode}"`).join(' ');
  return modes.includes(lifecycle) ? undefined : `${refused} (only supports [${list}])`;
}

/** The pod that the volume is for, where the driver asks for it. */
export function podInfo(
  driver: DriverObject,
  pod: DesiredPod,
  lifecycle: VolumeLifecycle,
): Readonly<Record<string, string>> {
  if (driver?.spec.podInfoOnMount !== true) return {};
  return {
    'csi.storage.k8s.io/pod.name': pod.name,
    'csi.storage.k8s.io/pod.namespace': pod.namespace,
    'csi.storage.k8s.io/pod.uid': pod.uid,
    'csi.storage.k8s.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(lifecycle === 'Ephemeral'),
  };
}

/** The tokens that the driver requests for the pod, by audience; '' is the API server's own. */
export function driverTokenSpecs(driver: DriverObject, pod: DesiredPod): ReadonlyMap<string, TokenSpec> {
  const specs = (driver?.spec.tokenRequests ?? []).map(({ audience, expirationSeconds }) => {
    const projection = { path: '', audience, ...(expirationSeconds !== undefined && { expirationSeconds }) };
    return [audience, tokenSpec(pod, projection)] as const;
  });
  return new Map(specs);
}

/** The key of the volume context that has them. */
export const tokensKey = 'csi.storage.k8s.io/serviceAccount.tokens';

export function tokenContext(
  tokens: ReadonlyMap<string, { readonly value: string; readonly expiresAtMs: number }>,
): Readonly<Record<string, string>> {
  if (tokens.size === 0) return {};
  const byAudience = [...tokens]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([audience, { value, expiresAtMs }]) => [
      audience,
      { token: value, expirationTimestamp: apiTime(expiresAtMs) },
    ]);
  return { [tokensKey]: JSON.stringify(Object.fromEntries(byAudience)) };
}

/** What sets the group of a volume: the driver, the agent, or nothing. */
export type FsGroupChoice = { readonly by: 'none' } | { readonly by: 'driver' | 'agent'; readonly gid: number };

export interface FsGroupInput {
  readonly fsGroup: number | undefined;
  readonly readOnly: boolean;
  readonly fsType: string | undefined;
  /** Of the PersistentVolume; undefined for an inline volume, which belongs to one pod. */
  readonly accessModes: readonly string[] | undefined;
}

export function fsGroupChoice(
  { fsGroup: gid, readOnly, fsType, accessModes }: FsGroupInput,
  driver: DriverObject,
  capabilities: ReadonlySet<DriverCapability>,
): FsGroupChoice {
  if (gid === undefined) return { by: 'none' };
  if (capabilities.has('VOLUME_MOUNT_GROUP')) return { by: 'driver', gid };
  const policy = driver?.spec.fsGroupPolicy ?? '';
  if (policy === 'None' || readOnly) return { by: 'none' };
  if (policy === 'File') return { by: 'agent', gid };
  // Without a file system there may be no owners, and a volume that other nodes write to must not be changed here.
  const isOurs = accessModes?.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod') ?? true;
  return (fsType ?? '') !== '' && isOurs ? { by: 'agent', gid } : { by: 'none' };
}

/**
 * The SELinux label that a volume is mounted with, so that the runtime need not relabel its files one by one: for a volume
 * of one pod, whose driver can mount so. Undefined where the containers that use it have different labels.
 */
export function seLinuxContext(
  driver: DriverObject,
  accessModes: readonly string[],
  pod: Pick<DesiredPod, 'spec'>,
  volumeName: string,
): string | undefined {
  const isAlone = accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
  if (driver?.spec.seLinuxMount !== true || !isAlone) return undefined;
  const users = allContainers(pod.spec).filter(({ container }) =>
    (container.volumeMounts ?? []).some(({ name }) => name === volumeName),
  );
  const labels = new Set(
    users.map(({ container }) => fileLabel(effectiveSecurityContext(pod, container).seLinuxOptions)),
  );
  const [label] = labels;
  return labels.size === 1 ? label : undefined;
}

/** Without a level the runtime picks one for each container, which is not known before. */
function fileLabel({ user = 'system_u', level }: SELinuxOptions = {}): string | undefined {
  return level === undefined || level === '' ? undefined : `${user}:object_r:container_file_t:${level}`;
}

/** Levels have commas in them, as lists of options do. */
export function seLinuxOption(context: string): string {
  return `context="${context}"`;
}
