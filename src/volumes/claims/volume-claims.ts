import { kindOf, TubeletError, remoteMessageOf } from '../../base/errors.ts';
import type { PersistentVolume, PersistentVolumeClaim, Volume } from '../../gen/kubernetes/types.ts';
import type { ApiReader } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { UnprocessedVolumeError, VolumeStepError } from '../volume-failures.ts';
import { isClaim, refusalOf } from '../wanted-volumes.ts';
import type { ClaimedVolume } from './claimed-volume.ts';
import {
  checkBinding,
  checkClaim,
  checkMode,
  checkNodeAffinity,
  checkOwner,
  claimedVolume,
  claimReference,
} from './compute-claim.ts';

interface VolumeClaimsDeps {
  /** A node may read the claims of its pods one by one; it may neither list nor watch them. */
  readonly api: Pick<ApiReader, 'get'>;
  /** Of this node's object; undefined before it was read. */
  readonly nodeLabels: () => Readonly<Record<string, string>> | undefined;
}

/** Resolves claims to PersistentVolumes. */
export interface Claims {
  /** Whether the volume is a claim that can be resolved here. */
  handles(volume: Volume): boolean;
  /** Rejects with the message that the pod's events and status report. */
  resolve(pod: DesiredPod, volume: Volume, signal: AbortSignal): Promise<ClaimedVolume>;
  /** Throws unless the volume may be used on this node. */
  checkNode(claimed: ClaimedVolume): void;
}

/** Without an API server every claim is refused. */
export const noClaims: Claims = {
  handles: () => false,
  resolve: async (_, volume) => Promise.reject(new UnprocessedVolumeError('unsupported', refusalOf(volume))),
  checkNode: () => {},
};

/**
 * Finds the PersistentVolumes behind the claims of pods. It caches nothing: the caller keeps an answer, as bindings do not
 * change, and retries a failure in its own time.
 */
export class VolumeClaims implements Claims {
  readonly #deps: VolumeClaimsDeps;

  constructor(deps: VolumeClaimsDeps) {
    this.#deps = deps;
  }

  handles(volume: Volume): boolean {
    return isClaim(volume);
  }

  async resolve(pod: DesiredPod, volume: Volume, signal: AbortSignal): Promise<ClaimedVolume> {
    const reference = claimReference(pod, volume);
    if (reference === undefined) throw new TubeletError('internal', `volume ${volume.name} is no claim`);
    const { namespace } = pod;
    const wrong = (problem: string, cause?: unknown): UnprocessedVolumeError =>
      unprocessed(`error processing PVC ${namespace}/${reference.name}: ${problem}`, cause);

    const claim = await this.#claim(namespace, reference.name, signal).catch((error: unknown) => {
      throw wrong(`failed to fetch PVC from API server: ${remoteMessageOf(error)}`, error);
    });
    const bound = checkClaim(claim);
    if ('problem' in bound) throw wrong(bound.problem);
    const notOwned = reference.isEphemeral ? checkOwner(claim, reference.name, pod) : undefined;
    if (notOwned !== undefined) throw unprocessed(notOwned.problem);

    const { volumeName } = bound;
    const persistent = await this.#volume(volumeName, signal).catch((error: unknown) => {
      throw wrong(`failed to fetch PV ${volumeName} from API server: ${remoteMessageOf(error)}`, error);
    });
    const unbound = checkBinding(volumeName, persistent, claim);
    if (unbound !== undefined) throw wrong(unbound.problem);
    const claimed = claimedVolume(volumeName, claim, persistent, reference);
    const misused = checkMode(pod.spec, volume.name, claimed.mode);
    if (misused !== undefined) throw unprocessed(misused.problem);
    return claimed;
  }

  /** Throws unless the volume may be used on this node. Called before every try, because labels of nodes change. */
  checkNode({ objects }: ClaimedVolume): void {
    const refused = (kind: 'unavailable' | 'denied', message: string): VolumeStepError =>
      new VolumeStepError('MountVolume.NodeAffinity check failed', kind, message);
    if (objects.volume.spec?.nodeAffinity?.required === undefined) return;
    const labels = this.#deps.nodeLabels();
    if (labels === undefined) throw refused('unavailable', 'error retrieving node: it is not known yet');
    const elsewhere = checkNodeAffinity(objects.volume, labels);
    if (elsewhere !== undefined) throw refused('denied', elsewhere.problem);
  }

  #claim(namespace: string, name: string, signal: AbortSignal): Promise<PersistentVolumeClaim> {
    return this.#deps.api.get(apiResources.persistentVolumeClaims, { namespace, name }, { signal });
  }

  #volume(name: string, signal: AbortSignal): Promise<PersistentVolume> {
    return this.#deps.api.get(apiResources.persistentVolumes, { name }, { signal });
  }
}

function unprocessed(message: string, cause?: unknown): UnprocessedVolumeError {
  return new UnprocessedVolumeError(cause === undefined ? 'unavailable' : kindOf(cause), message, { cause });
}
