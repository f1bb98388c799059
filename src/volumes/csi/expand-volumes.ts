import type { Clock } from '../../base/clock.ts';
import { grpcErrorText, kindOf, messageOf, TubeletError, remoteMessageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { VolumeCapability } from '../../gen/csi/v1.ts';
import type { CSIPersistentVolumeSource, ObjectReference, PersistentVolumeClaim } from '../../gen/kubernetes/types.ts';
import type { ApiWriter } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import { apiTime } from '../../model/api-time.ts';
import { volumeEvents } from '../../model/event-reasons.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import { podFields, type LoggedPod } from '../../model/pod-log.ts';
import type { Quantity } from '../../model/quantity.ts';
import type { ClaimedVolume } from '../claims/claimed-volume.ts';
import type { VolumeEvents, VolumeRequest } from '../ports.ts';
import { VolumeStepError, type VolumeStep } from '../volume-failures.ts';
import type { DriverClient } from './driver-client.ts';
import { isUncertain } from './driver-errors.ts';
import { fetchSecrets } from './driver-secrets.ts';
import { markInProgress, markFailed, markFinished, type ClaimPatch } from './expand-claim-status.ts';
import {
  decideExpansion,
  classifyFailure,
  storageOf,
  type ExpandDecision,
  type ExpandFailure,
} from './expand-decision.ts';
import type { DriverSecrets } from './ports.ts';

interface VolumeExpanderDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** A node may patch the status of claims that its pods use. */
  readonly api: Pick<ApiWriter, 'patch'>;
  readonly drivers: { find(name: string): Pick<DriverClient, 'capabilities' | 'expand'> };
  readonly secrets: DriverSecrets;
  readonly events: VolumeEvents;
  readonly claimEvents: ClaimEvents;
}

/** Events about claims. */
export interface ClaimEvents {
  record(about: ObjectReference, event: ObjectEvent): void;
}

/** Where a volume is, for its driver. */
export interface ExpandPlace {
  readonly volumePath: string;
  /** Unset for a driver that does not stage. */
  readonly stagingPath?: string | undefined;
  readonly capability: VolumeCapability;
}

/** What this process knows of a volume's expansion. */
interface KnownExpansion {
  /** The size that this node's driver has expanded it to. The status of a shared claim does not show that per node. */
  readonly expandedTo?: Quantity;
  /** The driver has refused with a final error. */
  readonly isRefused?: boolean;
  /** The size that the driver refuses while the volume is in use. */
  readonly notInUse?: Quantity;
  /** The size that was last reported to a pod that mounts it read-only. */
  readonly reportedReadOnly?: Quantity;
}

type Expand = Extract<ExpandDecision, { readonly act: 'expand' }>;

/** Has drivers expand volumes that the cluster has made larger: before containers start, or while they run. */
export class VolumeExpander {
  readonly #deps: VolumeExpanderDeps;
  /** By name of the PersistentVolume, as long as it is on this node. */
  readonly #known = new Map<string, KnownExpansion>();

  constructor(deps: VolumeExpanderDeps) {
    this.#deps = deps;
  }

  /** Before a pod gets the volume. Rejects where the pod must wait: a failed expansion must not be retried on a mounted disk. */
  async whileMounting(request: VolumeRequest, place: ExpandPlace, signal: AbortSignal): Promise<void> {
    const { claimed, source } = csiOf(request);
    const step: VolumeStep =
      claimed.mode === 'Block'
        ? 'MapVolume.MarkVolumeAsMounted failed while expanding volume'
        : 'MountVolume.Setup failed while expanding volume';
    try {
      await this.#expand(request, claimed, source, place, undefined, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new VolumeStepError(step, kindOf(error), messageOf(error), { cause: error });
    }
  }

  /** While pods use it. `before` is the claim as the last call saw it. */
  async online(request: VolumeRequest, before: ClaimedVolume, place: ExpandPlace, signal: AbortSignal): Promise<void> {
    const { claimed, source } = csiOf(request);
    await this.#expand(request, claimed, source, place, storageOf(before.objects.volume.spec?.capacity), signal);
  }

  /** The volume has left this node: the next mount asks its driver anew. */
  forget(name: string): void {
    this.#known.delete(name);
  }

  async #expand(
    request: VolumeRequest,
    claimed: ClaimedVolume,
    source: CSIPersistentVolumeSource,
    place: ExpandPlace,
    before: Quantity | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { claim, volume } = claimed.objects;
    const decision = decideExpansion({ claim, volume, readOnly: claimed.readOnly, before });
    if (decision.act === 'none') return;
    const { name } = claimed;
    if (before !== undefined && isSettled(this.#known.get(name) ?? {}, decision)) return;
    if (decision.act === 'readOnly') {
      this.#known.set(name, { ...this.#known.get(name), reportedReadOnly: decision.size });
      this.#recordEvents(
        request,
        'Warning',
        volumeEvents.fileSystemResizeFailed,
        'failed',
        'requested read-only file system',
      );
      return;
    }
    const current =
      decision.record === 'begin and end' ? await this.#patch(claim, markInProgress(claim), signal) : claim;
    try {
      await this.#expandOnDriver(source, decision.size, place, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = await this.#failed({ pod: request.pod, name }, current, decision, error, signal);
      if (failure.isInUse) return;
      throw error;
    }
    this.#known.set(name, { expandedTo: decision.size });
    const node = request.pod.spec.nodeName ?? '';
    this.#recordEvents(request, 'Normal', volumeEvents.fileSystemResizeSuccessful, 'succeeded', node);
    if (decision.record === 'none') return;
    try {
      await this.#patch(current, markFinished(current, decision.size.toString()), signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `mountVolume.NodeExpandVolume update pvc status failed: ${remoteMessageOf(error)}`;
      throw new TubeletError(kindOf(error), message, { cause: error });
    }
  }

  /** Succeeds for a driver that does not expand volumes on nodes. */
  async #expandOnDriver(
    { driver, volumeHandle, nodeExpandSecretRef }: CSIPersistentVolumeSource,
    size: Quantity,
    { volumePath, stagingPath = '', capability }: ExpandPlace,
    signal: AbortSignal,
  ): Promise<void> {
    const { drivers, secrets } = this.#deps;
    const client = drivers.find(driver);
    if (!(await client.capabilities({ signal })).has('EXPAND_VOLUME')) return;
    const request = {
      volumeId: volumeHandle,
      volumePath,
      stagingTargetPath: stagingPath,
      capacityRange: { requiredBytes: size.value(), limitBytes: 0n },
      volumeCapability: capability,
      secrets: { ...(await fetchSecrets(secrets, 'NodeExpandSecretRef', nodeExpandSecretRef, signal)) },
    };
    try {
      await client.expand(request, { signal });
    } catch (error) {
      const message = `Expander.NodeExpand failed to expand the volume : ${grpcErrorText(error)}`;
      const code = error instanceof TubeletError ? error.code : undefined;
      throw new TubeletError(kindOf(error), message, { cause: error, ...(code !== undefined && { code }) });
    }
  }

  /** Writes a final error to the claim's status. A failure to write changes nothing for the pod. */
  async #failed(
    { pod, name }: { readonly pod: LoggedPod; readonly name: string },
    claim: PersistentVolumeClaim,
    { size }: Expand,
    error: unknown,
    signal: AbortSignal,
  ): Promise<ExpandFailure> {
    const { clock, log } = this.#deps;
    const code = error instanceof TubeletError ? error.code : undefined;
    const asked = storageOf(claim.spec?.resources?.requests);
    const changedMind = this.#known.get(name)?.isRefused === true && asked?.compare(size) !== 0;
    const failure = classifyFailure(code, isUncertain(error), { changedMind });
    if (!failure.isFinal) return failure;
    this.#known.set(name, { isRefused: true, ...(failure.isInUse && { notInUse: size }) });
    const reason = messageOf(error);
    log.warn('Volume cannot be made larger', { ...podFields(pod), volume: name, size: size.toString(), err: reason });
    const patch = markFailed(claim, { reason, isInfeasible: failure.isInfeasible, at: apiTime(clock.now()) });
    try {
      await this.#patch(claim, patch, signal);
    } catch (problem) {
      signal.throwIfAborted();
      log.warn('Claim of a volume that cannot be made larger is not marked', {
        ...podFields(pod),
        volume: name,
        err: remoteMessageOf(problem),
      });
    }
    return failure;
  }

  async #patch(claim: PersistentVolumeClaim, patch: ClaimPatch, signal: AbortSignal): Promise<PersistentVolumeClaim> {
    if (Object.keys(patch).every((field) => field === 'metadata')) return claim;
    const { namespace = '', name = '' } = claim.metadata ?? {};
    const how = { type: 'strategic', subresource: 'status', signal } as const;
    return this.#deps.api.patch(apiResources.persistentVolumeClaims, { namespace, name }, patch, how);
  }

  #recordEvents(
    { pod, claimed }: VolumeRequest,
    type: 'Normal' | 'Warning',
    reason: string,
    outcome: 'succeeded' | 'failed',
    more: string,
  ): void {
    const message = `MountVolume.NodeExpandVolume ${outcome} for volume "${claimed?.name ?? ''}" ${more}`;
    this.#deps.events.record(pod, { type, reason, message });
    const { namespace, name, uid, resourceVersion } = claimed?.objects.claim.metadata ?? {};
    const about = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
    this.#deps.claimEvents.record(withoutUnset(about), { type, reason, message });
  }
}

/** Whether a repeated call or event would change nothing while the volume is in use. */
function isSettled(
  { expandedTo, notInUse, reportedReadOnly }: KnownExpansion,
  decision: Exclude<ExpandDecision, { readonly act: 'none' }>,
): boolean {
  if (decision.act === 'readOnly') return reportedReadOnly?.compare(decision.size) === 0;
  if (notInUse?.compare(decision.size) === 0) return true;
  return decision.record === 'none' && expandedTo !== undefined && expandedTo.compare(decision.size) >= 0;
}

function csiOf({ claimed, volume }: VolumeRequest): { claimed: ClaimedVolume; source: CSIPersistentVolumeSource } {
  if (claimed?.source.kind === 'csi') return { claimed, source: claimed.source.csi };
  throw new TubeletError('internal', `volume ${volume.name} is no claim to a volume of a CSI driver`);
}

function withoutUnset(reference: {
  readonly [K in keyof ObjectReference]: ObjectReference[K] | undefined;
}): ObjectReference {
  return Object.fromEntries(Object.entries(reference).filter(([, value]) => value !== undefined));
}
