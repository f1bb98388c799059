import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { LocalVolumeSource } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { volumeEvents } from '../../model/event-reasons.ts';
import type { FileKind } from '../../model/file-facts.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import type { ClaimedVolume } from '../claims/claimed-volume.ts';
import { setVolumeOwnership, type OwnershipChange } from '../contents/set-volume-ownership.ts';
import { mountOptions } from '../mount-options.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type {
  MountedVolume,
  MountPrograms,
  VolumeEvents,
  VolumeHost,
  VolumePlace,
  VolumePlugin,
  VolumeRequest,
} from '../ports.ts';
import { VolumeStepError } from '../volume-failures.ts';
import { LocalDevices } from './local-devices.ts';

const folder = 'kubernetes.io~local-volume';
const folderMode = 0o750;

interface LocalVolumeDeps {
  readonly clock: Pick<Clock, 'after'>;
  readonly host: VolumeHost;
  readonly paths: PodPaths;
  readonly programs: MountPrograms;
  readonly events: VolumeEvents;
  /** The agent's own folder: file systems of devices are mounted below it, once for all pods. */
  readonly rootDir: string;
}

/**
 * local: a folder or a disk of this node behind a claim. Its folder in the pod's directory shows it:
 *
 *   absent ──make folder──> empty ──device, owner, bind──> shown          remove: unbind, device, folder
 *
 * The bind marks that all before it is done, and the folder goes last: while it is there tearDown has something to undo.
 */
export function localVolume(deps: LocalVolumeDeps): VolumePlugin {
  const local = new LocalVolumes(deps);
  // Pods share a volume and its device: one of them at a time.
  const mutex = new KeyedMutex();
  return {
    folder,
    handles: () => false,
    handlesClaimed: ({ kind }) => kind === 'local',
    async setUp(request, signal) {
      const { claimed, source } = localOf(request);
      if (claimed.mode === 'Block') return local.device(claimed, source);
      return mutex.run(claimed.name, () => local.setUp(request.pod, claimed, source, signal), signal);
    },
    tearDown: (place) => mutex.run(place.name, () => local.tearDown(place)),
  };
}

function localOf({ claimed, volume }: VolumeRequest): { claimed: ClaimedVolume; source: LocalVolumeSource } {
  if (claimed?.source.kind !== 'local') throw new TubeletError('internal', `volume ${volume.name} is no local volume`);
  const { path, ...rest } = claimed.source.local;
  if (path === '') throw new TubeletError('invalid', `LocalVolume volume "${claimed.name}" path is empty`);
  if (path.split('/').includes('..')) {
    throw new TubeletError('invalid', `invalid path: ${path} must not contain '..'`);
  }
  return { claimed, source: { path: join('/', path), ...rest } };
}

class LocalVolumes {
  readonly #deps: LocalVolumeDeps;
  readonly #devices: LocalDevices;

  constructor(deps: LocalVolumeDeps) {
    this.#deps = deps;
    this.#devices = new LocalDevices({
      host: deps.host,
      programs: deps.programs,
      folder: join(deps.rootDir, 'plugins/kubernetes.io/local-volume/mounts'),
    });
  }

  /** The runtime gets the device of a block volume as it is; the agent keeps nothing of it on disk. */
  async device({ readOnly }: ClaimedVolume, { path }: LocalVolumeSource): Promise<MountedVolume> {
    const found = await this.#deps.host.paths.stat(path);
    if (found?.kind !== 'blockDevice') {
      const message = found === undefined ? `path "${path}" does not exist` : `${path} is not a block device`;
      throw new VolumeStepError('MapVolume.MapPodDevice failed', 'invalid', message);
    }
    return { hostPath: path, isOfNode: true, ...(readOnly && { readOnly }) };
  }

  async setUp(
    pod: DesiredPod,
    claimed: ClaimedVolume,
    source: LocalVolumeSource,
    signal: AbortSignal,
  ): Promise<MountedVolume> {
    const { files, mounts } = this.#deps.host;
    const { name, readOnly } = claimed;
    const options = mountOptions(claimed.mountOptions, readOnly ? ['ro'] : []);
    const kind = await this.#requireSource(source.path);
    const target = this.#deps.paths.volume(pod.uid, folder, name);
    if (!(await mounts.atOrBelow(target)).includes(target)) {
      await files.makeFolder(target, folderMode);
      const shown = kind === 'folder' ? source.path : await this.#devices.mount(name, source, options, signal);
      await this.#bind(pod, claimed, shown, target, signal);
    }
    // Also when it was bound already: an agent may have been killed in between.
    await mounts.restrict(target, options);
    return { hostPath: target, ...(readOnly ? { readOnly } : { selinuxRelabel: true }) };
  }

  async tearDown({ uid, name }: VolumePlace): Promise<void> {
    const { files, mounts } = this.#deps.host;
    const target = this.#deps.paths.volume(uid, folder, name);
    await mounts.release(target);
    if ((await this.#shownTo(name, uid)).length === 0) await this.#devices.unmount(name);
    await files.removeEmpty(target);
  }

  async #requireSource(path: string): Promise<FileKind> {
    const found = await this.#deps.host.paths.stat(path);
    const refused = (message: string): VolumeStepError =>
      new VolumeStepError('MountVolume.NewMounter initialization failed', 'invalid', message);
    if (found === undefined) throw refused(`path "${path}" does not exist`);
    if (found.kind !== 'folder' && found.kind !== 'blockDevice') {
      throw refused('only directory and block device are supported');
    }
    return found.kind;
  }

  /** Binds the folder that was checked: it is held open in between. */
  async #bind(
    pod: DesiredPod,
    claimed: ClaimedVolume,
    source: string,
    target: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { paths, mounts } = this.#deps.host;
    const open = await paths.openBelow(source, '');
    try {
      if (!open.isFolder) throw new TubeletError('conflict', `${source} is no folder any more`);
      await this.#setVolumeOwnership(pod, claimed, { path: `${open.source}/.`, shownAs: target }, signal);
      await mounts.bind(open.source, target);
    } finally {
      await open.close();
    }
  }

  /** The first pod's group gets the volume. A later pod with another fsGroup gets a warning, and the owner stays. */
  async #setVolumeOwnership(
    pod: DesiredPod,
    claimed: ClaimedVolume,
    place: Pick<OwnershipChange, 'path' | 'shownAs'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    if (fsGroup === undefined) return;
    const { clock, events, host } = this.#deps;
    if ((await this.#shownTo(claimed.name, pod.uid)).length > 0) {
      const top = await host.paths.stat(place.path);
      if (top === undefined || top.gid === fsGroup) return;
      const message =
        `The requested fsGroup is ${fsGroup}, but the volume ${claimed.name} has GID ${top.gid}. ` +
        'The volume may not be shareable.';
      events.record(pod, { type: 'Warning', reason: volumeEvents.alreadyMountedVolume, message });
      return;
    }
    if (claimed.readOnly) return;
    const group = { gid: fsGroup, readOnly: false };
    await setVolumeOwnership({ clock, events, paths: host.paths }, { pod, ...place, group, policy }, signal);
  }

  /** Where other pods have the same volume. */
  async #shownTo(name: string, except: PodUid): Promise<readonly string[]> {
    const { host, paths } = this.#deps;
    const own = paths.volume(except, folder, name);
    const points = await host.mounts.atOrBelow(paths.pods);
    return points.filter((point) => point.endsWith(`/volumes/${folder}/${name}`) && point !== own);
  }
}
