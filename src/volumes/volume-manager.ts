import { describeError, kindOf, TubeletError } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import type { Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { MountedVolume, VolumePlugin } from './ports.ts';

export interface VolumeManagerDeps {
  readonly plugins: readonly VolumePlugin[];
}

/** Makes the volumes of pods ready and takes them down; the only writer of what is mounted. */
export class VolumeManager {
  readonly #deps: VolumeManagerDeps;
  readonly #mounted = new Map<PodUid, ReadonlyMap<string, MountedVolume>>();

  constructor(deps: VolumeManagerDeps) {
    this.#deps = deps;
  }

  /** Returns when every volume of the pod is ready. */
  async mount(pod: DesiredPod, signal: AbortSignal): Promise<void> {
    if (this.#mounted.has(pod.uid)) return;
    const volumes = pod.spec.volumes ?? [];
    const plugins = volumes.map((volume) => ({ volume, plugin: this.#pluginFor(volume) }));
    const ready = new Map<string, MountedVolume>();
    for (const { volume, plugin } of plugins) {
      signal.throwIfAborted();
      ready.set(volume.name, await setUp(plugin, pod.uid, volume));
    }
    this.#mounted.set(pod.uid, ready);
  }

  /** What is ready of a pod: volume name → where it is on the host. */
  mounted(uid: PodUid): ReadonlyMap<string, MountedVolume> {
    return this.#mounted.get(uid) ?? new Map();
  }

  /** Takes all volumes of a stopped pod down. */
  async unmount(pod: DesiredPod): Promise<void> {
    for (const volume of pod.spec.volumes ?? []) {
      await this.#deps.plugins.find((plugin) => plugin.handles(volume))?.tearDown(pod.uid, volume);
    }
    this.#mounted.delete(pod.uid);
  }

  #pluginFor(volume: Volume): VolumePlugin {
    const plugin = this.#deps.plugins.find((candidate) => candidate.handles(volume));
    if (plugin !== undefined) return plugin;
    throw new TubeletError(
      'unsupported',
      `Unable to attach or mount volumes: volume "${volume.name}" is of a kind that this version cannot mount: ` +
        sourceOf(volume),
    );
  }
}

/** A failure names the volume: it is what people read in the pod's events. */
async function setUp(plugin: VolumePlugin, uid: PodUid, volume: Volume): Promise<MountedVolume> {
  try {
    return await plugin.setUp(uid, volume);
  } catch (error) {
    const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${describeError(error)}`;
    throw new TubeletError(kindOf(error), message, { cause: error });
  }
}

function sourceOf(volume: Volume): string {
  const { name: _, ...source } = volume;
  const [kind = 'none'] = Object.keys(source);
  const detail = volume.emptyDir?.medium ?? volume.hostPath?.type ?? '';
  return detail === '' ? kind : `${kind} (${detail})`;
}
