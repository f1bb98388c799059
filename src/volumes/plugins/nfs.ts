import { isIPv6 } from 'node:net';
import { linkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind, TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { NFSVolumeSource } from '../../gen/kubernetes/types.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import { mountOptions } from '../mount-options.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { placeKey } from '../pod-places.ts';
import type { MountedVolume, MountPrograms, VolumeHost, VolumePlace, VolumePlugin, VolumeRequest } from '../ports.ts';

const folder = 'kubernetes.io~nfs';
const folderMode = 0o750;
/** After this long an unmount is forced, or given up. */
const unmountTimeoutMs = 60_000;
/** Mounts stacked on one path, as two agents in a row may have left them. */
const maxLayers = 8;

interface NfsDeps {
  readonly clock: Clock;
  readonly host: Pick<VolumeHost, 'files' | 'mounts'>;
  readonly paths: PodPaths;
  readonly programs: MountPrograms;
  /** By pod and folder: two volumes of a pod may be claims to the same. */
  readonly mutex: KeyedMutex;
}

/**
 * nfs: a folder of another machine, inline or behind a claim. That machine may not answer: the agent reads the table of
 * mounts and never the mounted folder, and mount(8) and umount(8) do the work in processes of their own.
 */
export function nfs(deps: NfsDeps): VolumePlugin {
  const { mutex } = deps;
  return {
    folder,
    handles: (volume) => volume.nfs !== undefined,
    handlesClaimed: ({ kind }) => kind === 'nfs',
    async setUp(request, signal) {
      const spec = nfsMountSpec(request);
      const key = placeKey({ uid: request.pod.uid, name: spec.name });
      return mutex.run(key, () => setUp(deps, request.pod.uid, spec, signal), signal);
    },
    tearDown: (place) => mutex.run(placeKey(place), () => tearDown(deps, place)),
  };
}

interface NfsMountSpec {
  readonly name: string;
  /** `server:/path`. */
  readonly source: string;
  readonly options: readonly string[];
  readonly readOnly: boolean;
}

/** Pure; throws what the pod's events report. */
export function nfsMountSpec({ pod, volume, claimed }: VolumeRequest): NfsMountSpec {
  if (claimed === undefined) {
    const { server = '', path = '', readOnly = false } = volume.nfs ?? {};
    const options = mountOptions([], readOnly ? ['ro'] : []);
    return { name: volume.name, source: exportOf({ server, path }), options, readOnly };
  }
  const { name, source, readOnly } = claimed;
  if (source.kind !== 'nfs') throw new TubeletError('internal', `volume ${name} is no nfs`);
  if (claimed.mode === 'Block') throw new TubeletError('unsupported', 'an nfs cannot be used as a block device');
  // Both volumes would have the same folder, and one of them would show the other's files.
  if ((pod.spec.volumes ?? []).some((other) => other.nfs !== undefined && other.name === name)) {
    throw new TubeletError('conflict', `the pod has another nfs volume that is called ${name} like this one's PV`);
  }
  // As in upstream: the pod's readOnly counts, not the source's own.
  const options = mountOptions(claimed.mountOptions, readOnly ? ['ro'] : []);
  return { name, source: exportOf(source.nfs), options, readOnly };
}

function exportOf({ server, path }: NFSVolumeSource): string {
  if (!/^[\w[][\w.:%\][-]*$/.test(server)) throw new TubeletError('invalid', `invalid nfs server ${quoted(server)}`);
  if (!path.startsWith('/') || /\p{Cc}/u.test(path)) {
    throw new TubeletError('invalid', `invalid nfs path ${quoted(path)}: it must be absolute`);
  }
  return `${isIPv6(server) ? `[${server}]` : server}:${path}`;
}

const quoted = (text: string): string => JSON.stringify(text);

async function setUp(deps: NfsDeps, uid: PodUid, spec: NfsMountSpec, signal: AbortSignal): Promise<MountedVolume> {
  const { files, mounts } = deps.host;
  const target = deps.paths.volume(uid, folder, spec.name);
  if (!(await mounts.atOrBelow(target)).includes(target)) {
    await files.makeFolder(target, folderMode);
    const { source, options } = spec;
    await deps.programs.mount({ fsType: 'nfs', source, target, options }, signal);
  }
  return { hostPath: target, ...(spec.readOnly && { readOnly: true }) };
}

/** What cannot be unmounted stays, and its folder with it. */
async function tearDown(deps: NfsDeps, { uid, name }: VolumePlace): Promise<void> {
  const { files, mounts } = deps.host;
  const target = deps.paths.volume(uid, folder, name);
  for (let layer = 0; (await mounts.atOrBelow(target)).includes(target); layer++) {
    if (layer === maxLayers) throw new TubeletError('conflict', `failed to cleanup mount point ${target}`);
    await unmount(deps, target);
  }
  await files.removeEmpty(target);
}

/**
 * Forces the unmount after a minute, which makes the kernel give up requests under way. Never lazily: the mount would go on
 * unseen, and the server might still get writes of a removed pod.
 */
async function unmount({ clock, programs }: NfsDeps, target: string): Promise<void> {
  const normal = linkedSignal(undefined, { clock, ms: unmountTimeoutMs });
  try {
    await programs.unmount(target, { force: false }, normal.signal);
    return;
  } catch (error) {
    if (!normal.signal.aborted || !isKind(error, 'timeout')) throw error;
  } finally {
    normal.release();
  }
  const byForce = linkedSignal(undefined, { clock, ms: unmountTimeoutMs });
  try {
    await programs.unmount(target, { force: true }, byForce.signal);
  } finally {
    byForce.release();
  }
}
