import {
  NodeServiceCapability_RPC_Type as Capability,
  VolumeUsage_Unit,
  type NodeExpandVolumeRequest,
  type NodeGetVolumeStatsRequest,
  type NodePublishVolumeRequest,
  type NodeService,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
} from '../gen/csi/v1.ts';
import { StatusError } from './fake-registration.ts';

export interface FakeCsiTraits {
  readonly name: string;
  readonly nodeId: string;
  readonly topology: Readonly<Record<string, string>>;
  /** Zero: left open. */
  maxVolumes: bigint;
  capabilities: readonly Exclude<keyof typeof Capability, 'UNKNOWN'>[];
}

interface FakeCsiVolume {
  readonly id: string;
  staged?: NodeStageVolumeRequest;
  /** By target path. */
  readonly published: Map<string, NodePublishVolumeRequest>;
  sizeBytes: bigint;
  abnormal?: string;
}

interface Handled {
  readonly answer: unknown;
  readonly appears?: { readonly path: string; readonly kind: 'folder' | 'file' };
  readonly disappears?: string;
}

/** The state of a fake driver, and the rules of the protocol. What breaks a rule throws a status. */
export class FakeCsiVolumes {
  readonly #traits: FakeCsiTraits;
  readonly #volumes = new Map<string, FakeCsiVolume>();
  readonly #gone = new Set<string>();

  constructor(traits: FakeCsiTraits) {
    this.#traits = traits;
  }

  get(id: string): FakeCsiVolume | undefined {
    return this.#volumes.get(id);
  }

  /** Deletes the volume, whether it is in use or not. Before that every id counts as that of a volume. */
  remove(id: string): void {
    this.#volumes.delete(id);
    this.#gone.add(id);
  }

  /** Volumes that are staged or published anywhere: none of them should be left at the end of a test. */
  inUse(): readonly string[] {
    const used = [...this.#volumes.values()].filter(
      (volume) => volume.staged !== undefined || volume.published.size > 0,
    );
    return used.map(({ id }) => id);
  }

  handle(verb: keyof NodeService, request: unknown): Handled {
    switch (verb) {
      case 'nodeStageVolume':
        return this.#stage(request as NodeStageVolumeRequest);
      case 'nodeUnstageVolume':
        return this.#unstage(request as NodeUnstageVolumeRequest);
      case 'nodePublishVolume':
        return this.#publish(request as NodePublishVolumeRequest);
      case 'nodeUnpublishVolume':
        return this.#unpublish(request as NodeUnpublishVolumeRequest);
      case 'nodeGetVolumeStats':
        return this.#stats(request as NodeGetVolumeStatsRequest);
      case 'nodeExpandVolume':
        return this.#expand(request as NodeExpandVolumeRequest);
      case 'nodeGetCapabilities':
        return {
          answer: { capabilities: this.#traits.capabilities.map((name) => ({ rpc: { type: Capability[name] } })) },
        };
      case 'nodeGetInfo':
        return { answer: this.#info() };
      default:
        throw new StatusError('UNIMPLEMENTED', `unknown verb ${String(verb)}`);
    }
  }

  #info(): unknown {
    const { nodeId, maxVolumes, topology } = this.#traits;
    const accessibleTopology = Object.keys(topology).length > 0 ? { segments: { ...topology } } : undefined;
    return { nodeId, maxVolumesPerNode: maxVolumes, accessibleTopology };
  }

  #stage(request: NodeStageVolumeRequest): Handled {
    this.#must('STAGE_UNSTAGE_VOLUME');
    given(request.volumeId, 'volume_id');
    given(request.stagingTargetPath, 'staging_target_path');
    given(request.volumeCapability, 'volume_capability');
    const volume = this.#volume(request.volumeId);
    if (volume.staged !== undefined && volume.staged.stagingTargetPath !== request.stagingTargetPath) {
      throw new StatusError('ALREADY_EXISTS', `${volume.id} is staged at ${volume.staged.stagingTargetPath}`);
    }
    volume.staged = request;
    return { answer: {} };
  }

  #unstage({ volumeId, stagingTargetPath }: NodeUnstageVolumeRequest): Handled {
    this.#must('STAGE_UNSTAGE_VOLUME');
    given(volumeId, 'volume_id');
    given(stagingTargetPath, 'staging_target_path');
    const volume = this.#volume(volumeId);
    if (volume.staged?.stagingTargetPath !== stagingTargetPath) return { answer: {} };
    if (volume.published.size > 0) {
      throw new StatusError(
        'FAILED_PRECONDITION',
        `${volumeId} is published at ${[...volume.published.keys()].join(', ')}`,
      );
    }
    delete volume.staged;
    return { answer: {} };
  }

  #publish(request: NodePublishVolumeRequest): Handled {
    given(request.volumeId, 'volume_id');
    given(request.targetPath, 'target_path');
    given(request.volumeCapability, 'volume_capability');
    if (isInline(request)) this.#gone.delete(request.volumeId);
    const volume = isInline(request) ? this.#make(request.volumeId) : this.#volume(request.volumeId);
    if (this.#can('STAGE_UNSTAGE_VOLUME') && !isInline(request)) {
      given(request.stagingTargetPath, 'staging_target_path');
      if (volume.staged?.stagingTargetPath !== request.stagingTargetPath) {
        throw new StatusError('FAILED_PRECONDITION', `${volume.id} is not staged at ${request.stagingTargetPath}`);
      }
    }
    const before = volume.published.get(request.targetPath);
    if (before !== undefined && before.readonly !== request.readonly) {
      throw new StatusError('ALREADY_EXISTS', `${volume.id} is published at ${request.targetPath} in another way`);
    }
    volume.published.set(request.targetPath, request);
    const kind = request.volumeCapability?.block === undefined ? 'folder' : 'file';
    return { answer: {}, appears: { path: request.targetPath, kind } };
  }

  #unpublish({ volumeId, targetPath }: NodeUnpublishVolumeRequest): Handled {
    given(volumeId, 'volume_id');
    given(targetPath, 'target_path');
    const { published } = this.#volume(volumeId);
    const before = published.get(targetPath);
    published.delete(targetPath);
    // As the hostpath driver: a repeated call fails, as there is no such volume any more.
    if (before !== undefined && isInline(before)) this.remove(volumeId);
    return { answer: {}, ...(before !== undefined && { disappears: targetPath }) };
  }

  #stats({ volumeId, volumePath }: NodeGetVolumeStatsRequest): Handled {
    this.#must('GET_VOLUME_STATS');
    const { sizeBytes: total, abnormal } = this.#at(volumeId, volumePath);
    const used = total / 4n;
    const usage = [
      { available: total - used, total, used, unit: VolumeUsage_Unit.BYTES },
      { available: 900n, total: 1_000n, used: 100n, unit: VolumeUsage_Unit.INODES },
    ];
    const condition = { abnormal: abnormal !== undefined, message: abnormal ?? '' };
    return { answer: { usage, volumeCondition: this.#can('VOLUME_CONDITION') ? condition : undefined } };
  }

  #expand({ volumeId, volumePath, capacityRange }: NodeExpandVolumeRequest): Handled {
    this.#must('EXPAND_VOLUME');
    const volume = this.#at(volumeId, volumePath);
    const wanted = capacityRange?.requiredBytes ?? 0n;
    if (wanted > volume.sizeBytes) volume.sizeBytes = wanted;
    return { answer: { capacityBytes: volume.sizeBytes } };
  }

  /** A volume that is at the path, staged or published. */
  #at(volumeId: string, path: string): FakeCsiVolume {
    given(volumeId, 'volume_id');
    given(path, 'volume_path');
    const volume = this.#volume(volumeId);
    if (!volume.published.has(path) && volume.staged?.stagingTargetPath !== path) {
      throw new StatusError('NOT_FOUND', `${volumeId} is not at ${path}`);
    }
    return volume;
  }

  #volume(id: string): FakeCsiVolume {
    const known = this.#volumes.get(id);
    if (known !== undefined) return known;
    if (this.#gone.has(id) || inlineId.test(id)) throw new StatusError('NOT_FOUND', `there is no volume ${id}`);
    return this.#make(id);
  }

  #make(id: string): FakeCsiVolume {
    const made = this.#volumes.get(id) ?? { id, published: new Map(), sizeBytes: 1n << 30n };
    this.#volumes.set(id, made);
    return made;
  }

  #can(capability: FakeCsiTraits['capabilities'][number]): boolean {
    return this.#traits.capabilities.includes(capability);
  }

  #must(capability: FakeCsiTraits['capabilities'][number]): void {
    if (!this.#can(capability)) throw new StatusError('UNIMPLEMENTED', `the driver cannot ${capability}`);
  }
}

/** Ids of inline volumes, which exist only with their pods. */
const inlineId = /^csi-[0-9a-f]{64}$/;

/** An inline volume, which lives as long as its pod. */
function isInline({ volumeContext }: NodePublishVolumeRequest): boolean {
  return volumeContext['csi.storage.k8s.io/ephemeral'] === 'true';
}

function given(value: unknown, field: string): void {
  if (value === undefined || value === '') throw new StatusError('INVALID_ARGUMENT', `${field} is missing`);
}
