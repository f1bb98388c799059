import type { Clock } from '../base/clock.ts';
import type { Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { Claims } from './claims/volume-claims.ts';
import type { VolumePlugin } from './ports.ts';
import { refusedKind } from './refused-kinds.ts';
import { UnprocessedVolumeError } from './volume-failures.ts';
import type { VolumeMetrics } from './volume-metrics.ts';
import type { VolumeRecord } from './volume-record.ts';
import { pluginName } from './wanted-volumes.ts';

interface VolumeAttemptsDeps {
  readonly clock: Clock;
  readonly plugins: readonly VolumePlugin[];
  readonly claims: Pick<Claims, 'resolve' | 'checkNode'>;
  readonly metrics: VolumeMetrics;
  /** An attachable volume is in use now. */
  readonly inUseChanged: () => void;
}

/** A volume that a pod needs. The plugin of a claim is known after the claim was resolved. */
export interface WantedVolume {
  readonly volume: Volume;
  readonly plugin?: VolumePlugin;
}

/** Single tries at setting a volume up; their outcome goes into the volume's record. */
export class VolumeAttempts {
  readonly #deps: VolumeAttemptsDeps;

  constructor(deps: VolumeAttemptsDeps) {
    this.#deps = deps;
  }

  async setUp(pod: DesiredPod, wanted: WantedVolume, record: VolumeRecord, signal: AbortSignal): Promise<void> {
    const { volume } = wanted;
    const plugin = wanted.plugin ?? (await this.#resolveClaim(pod, volume, record, signal));
    record.plugin ??= pluginName(volume, plugin.folder, record.claimed);
    await this.#mount(plugin, pod, volume, record, signal);
    delete record.failure;
  }

  /** Resolves a claim to its PersistentVolume, unless that is known, and finds the plugin for it. */
  async #resolveClaim(
    pod: DesiredPod,
    volume: Volume,
    record: VolumeRecord,
    signal: AbortSignal,
  ): Promise<VolumePlugin> {
    const { claims, plugins } = this.#deps;
    const claimed = record.claimed ?? (await claims.resolve(pod, volume, signal));
    const { name, source } = claimed;
    const plugin = plugins.find((candidate) => candidate.handlesClaimed?.(source) === true);
    if (plugin === undefined) {
      const kind = source.kind === 'other' ? source.field : source.kind;
      throw new UnprocessedVolumeError('unsupported', refusedKind(name, kind));
    }
    record.claimed = claimed;
    // The volume counts as in use before it is mounted, so that the attach controller does not detach it in between.
    const attachable = plugin.attachable?.(claimed);
    if (attachable !== undefined && record.attachable !== attachable) {
      record.attachable = attachable;
      this.#deps.inUseChanged();
    }
    claims.checkNode(claimed);
    return plugin;
  }

  async #mount(
    plugin: VolumePlugin,
    pod: DesiredPod,
    volume: Volume,
    record: VolumeRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, metrics } = this.#deps;
    const { claimed, plugin: kind = '' } = record;
    const operation = claimed?.mode === 'Block' ? 'map_volume' : 'volume_mount';
    const began = clock.monotonic();
    const secondsSince = (sinceMs: number): number => (clock.monotonic() - sinceMs) / 1_000;
    try {
      const mounted = await plugin.setUp({ pod, volume, ...(claimed && { claimed }) }, signal);
      metrics.operated(operation, kind, secondsSince(began), false);
      if (record.mounted === undefined) metrics.settled(operation, kind, secondsSince(record.wantedSinceMs));
      const gid = claimed?.gid;
      record.mounted = { ...mounted, ...(claimed && { innerName: claimed.name }), ...(gid !== undefined && { gid }) };
    } catch (error) {
      if (!signal.aborted) metrics.operated(operation, kind, secondsSince(began), true);
      throw error;
    }
  }
}
