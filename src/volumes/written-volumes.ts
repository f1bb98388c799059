import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import { writeContents } from './contents/atomic-writer.ts';
import { contentsFor, type VolumeContents } from './contents/compute-write.ts';
import { setVolumeOwnership } from './contents/set-volume-ownership.ts';
import { disk, memoryMedium, type MemoryFacts } from './contents/medium.ts';
import type { Payload } from './contents/payload.ts';
import { countPods, dropPod, placeKey } from './pod-places.ts';
import type { MountedVolume, VolumeEvents, VolumeHost, VolumePlace, VolumeRequest } from './ports.ts';
import type { ScratchFolder, ScratchFolders } from './scratch-folders.ts';

interface WrittenVolumesDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly host: VolumeHost;
  readonly scratch: ScratchFolders;
  readonly memory: () => MemoryFacts;
  readonly events: VolumeEvents;
}

/** A plugin whose files the agent writes. */
interface WrittenKind {
  readonly folder: string;
  /** Secrets stay off the disk. */
  readonly on: 'disk' | 'memory';
}

/** Volumes that containers only read and the agent keeps up to date. */
export class WrittenVolumes {
  readonly #deps: WrittenVolumesDeps;
  /** What was last written, by pod and volume: unchanged contents need no read of the disk. */
  readonly #written = new Map<string, string>();

  constructor(deps: WrittenVolumesDeps) {
    this.#deps = deps;
  }

  async write({ pod, volume }: VolumeRequest, kind: WrittenKind, payload: Payload): Promise<MountedVolume> {
    const { host, scratch, clock, random, events } = this.#deps;
    const fsGroup = pod.spec.securityContext?.fsGroup;
    const contents = contentsFor(payload, fsGroup);
    const place = scratchOf({ uid: pod.uid, name: volume.name }, kind);
    const key = placeKey(place);
    const digest = digestOf(contents);
    const medium = kind.on === 'disk' ? disk : memoryMedium(pod.spec, undefined, this.#deps.memory());
    const mounted = (hostPath: string): MountedVolume => ({ hostPath, readOnly: true, selinuxRelabel: true });
    const known = this.#written.get(key);
    if (known?.startsWith(`${digest} `) === true) return mounted(known.slice(digest.length + 1));
    this.#written.delete(key);
    const hostPath = await scratch.make(place, medium, async (path) => {
      if (fsGroup === undefined) return;
      const change = { pod, path, group: { gid: fsGroup, readOnly: true } };
      await setVolumeOwnership({ clock, events, paths: host.ownPaths }, change, new AbortController().signal);
    });
    await writeContents({ clock, random, files: host.files, contents: host.contents }, hostPath, contents);
    this.#written.set(key, `${digest} ${hostPath}`);
    return mounted(hostPath);
  }

  forget(uid: PodUid): void {
    dropPod(this.#written, uid);
  }

  /** How many pods have volumes that this process wrote. */
  size(): number {
    return countPods(this.#written.keys());
  }

  async remove(place: VolumePlace, kind: WrittenKind): Promise<void> {
    this.#written.delete(placeKey(place));
    await this.#deps.scratch.remove(scratchOf(place, kind));
  }
}

const scratchOf = (place: VolumePlace, { folder }: WrittenKind): ScratchFolder => ({
  ...place,
  folder,
  mark: `wrapped_${place.name}`,
});

/** Of paths, contents and owners. Each part is preceded by its length, so that different sets hash differently. */
function digestOf({ files, folders }: VolumeContents): string {
  const hash = createHash('sha256');
  const add = (bytes: Uint8Array): void => void hash.update(`${bytes.length}:`).update(bytes);
  add(Buffer.from(JSON.stringify(folders)));
  for (const [path, { content, mode, uid, gid }] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    add(Buffer.from(JSON.stringify([path, mode, uid, gid])));
    add(content);
  }
  return hash.digest('hex');
}
