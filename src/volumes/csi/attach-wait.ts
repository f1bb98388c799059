import type { Clock } from '../../base/clock.ts';
import { remoteMessageOf } from '../../base/errors.ts';
import type { VolumeAttachment } from '../../gen/kubernetes/types.ts';
import type { ApiReader } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import { apiTime } from '../../model/api-time.ts';
import { VolumeStepError } from '../volume-failures.ts';
import type { NodeAttachments } from './ports.ts';
import { attachableName, attachmentName, type DriverVolume } from './volume-names.ts';

interface AttachWaitDeps {
  readonly clock: Clock;
  /** A node may read a VolumeAttachment by its name; it may neither list nor watch them. */
  readonly api: Pick<ApiReader, 'get'>;
  readonly node: NodeAttachments;
  readonly nodeName: string;
}

/** What the attacher hands to the driver on the node. */
export type PublishContext = Readonly<Record<string, string>>;

export type AttachState =
  | { readonly context: PublishContext }
  | { readonly waitingFor: string }
  | { readonly failed: string };

export function classifyAttachment({ metadata, status }: VolumeAttachment): AttachState {
  if (metadata?.deletionTimestamp !== undefined) return { failed: 'volume attachment is being deleted' };
  if (status?.attached === true) return { context: status.attachmentMetadata ?? {} };
  const error = status?.attachError?.message;
  if (error !== undefined) return { failed: error };
  return { waitingFor: `VolumeAttachment ${metadata?.name ?? ''} is not attached` };
}

/** Attaching takes seconds to minutes. After this long a wait fails, and the next try waits again. */
const attachTimeoutMs = 120_000;
const minPauseMs = 500;
const maxPauseMs = 10_000;

/**
 * Waits until a controller has attached a volume to this node. The controller waits until the node reports it in use.
 *
 *   not in use ──> in use, not attached ──> attached by the node's status ──> attached by the VolumeAttachment
 */
export class AttachWait {
  readonly #deps: AttachWaitDeps;
  readonly #waiting = new Set<() => void>();
  /** When the first wait for each volume began, in wall time. */
  readonly #since = new Map<string, number>();

  constructor(deps: AttachWaitDeps) {
    this.#deps = deps;
  }

  /** The node's object has changed: wakes all waits. */
  changed(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Rejects with the step and the reason when that fails or takes too long. */
  async wait(volume: DriverVolume, signal: AbortSignal): Promise<PublishContext> {
    const { clock } = this.#deps;
    const name = attachableName(volume);
    const since = this.#since.get(name) ?? clock.now();
    this.#since.set(name, since);
    try {
      const context = await this.#attached(volume, since, signal);
      this.#since.delete(name);
      return context;
    } catch (error) {
      if (signal.aborted) this.#since.delete(name);
      throw error;
    }
  }

  async #attached(volume: DriverVolume, since: number, signal: AbortSignal): Promise<PublishContext> {
    const { clock } = this.#deps;
    const until = clock.monotonic() + attachTimeoutMs;
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const state = await this.#inspect(volume, signal);
      if ('context' in state) return state.context;
      if ('failed' in state) throw failure(state.failed);
      if (clock.monotonic() >= until) {
        throw failure(
          `timed out waiting for external-attacher of ${volume.driver} CSI driver to attach volume ${volume.handle}: ` +
            `${state.waitingFor} (since ${apiTime(since)})`,
        );
      }
      await this.#waitForChange(pauseMs, signal);
    }
  }

  async #inspect(volume: DriverVolume, signal: AbortSignal): Promise<AttachState> {
    const { api, node, nodeName } = this.#deps;
    const name = attachableName(volume);
    if (!node.isReportedInUse(name)) {
      return { waitingFor: "Volume has not been added to the list of VolumesInUse in the node's volume status" };
    }
    if (!node.isAttached(name)) return { waitingFor: 'Volume not attached according to node status' };
    const attachment = attachmentName(volume, nodeName);
    try {
      return classifyAttachment(await api.get(apiResources.volumeAttachments, { name: attachment }, { signal }));
    } catch (error) {
      signal.throwIfAborted();
      // A refusal counts as waiting: the authorizer may learn of a new attachment later than the node's status.
      return {
        waitingFor: `volume ${volume.handle} has GET error for volume attachment ${attachment}: ${remoteMessageOf(error)}`,
      };
    }
  }

  async #waitForChange(ms: number, signal: AbortSignal): Promise<void> {
    let notify = (): void => {};
    const changed = new Promise<void>((resolve) => (notify = resolve));
    this.#waiting.add(notify);
    const pause = new AbortController();
    const stop = (): void => pause.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      await Promise.race([changed, this.#deps.clock.sleep(ms, pause.signal)]);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(notify);
      pause.abort();
    }
  }
}

const failure = (message: string): VolumeStepError =>
  new VolumeStepError('MountVolume.WaitForAttach failed', 'unavailable', message);
