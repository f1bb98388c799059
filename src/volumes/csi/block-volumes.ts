import type { Component } from '../../base/component.ts';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { ClaimedVolume } from '../claims/claimed-volume.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type { CsiDevices, MountedVolume, VolumePlace, VolumeRequest } from '../ports.ts';
import type { PublishContext } from './attach-wait.ts';
import { isReserved } from './block-paths.ts';
import { BlockRecords, type BlockRecordsDeps } from './block-records.ts';
import { asStep, inStep, notUnmapped } from './block-steps.ts';
import type { CsiCluster } from './csi-volumes-deps.ts';
import type { DriverCapability } from './driver-capabilities.ts';
import type { DriverClient } from './driver-client.ts';
import { fetchSecrets } from './driver-secrets.ts';
import { mayBeAttached } from './driver-objects.ts';
import { isAttachRequired } from './driver-spec.ts';
import type { VolumeExpander } from './expand-volumes.ts';
import type { DriverSecrets, FoundDrivers } from './ports.ts';
import { blockCapability } from './volume-capability.ts';
import { attachableName, type DriverVolume } from './volume-names.ts';
import { csiVolumeSpec, publishRequest, stageRequest, type CsiVolumeSpec } from './volume-spec.ts';

export interface CsiBlockVolumesDeps extends BlockRecordsDeps {
  readonly log: Log;
  readonly drivers: FoundDrivers;
  /** Unset on a node without one: nothing is attached there. */
  readonly cluster?: CsiCluster | undefined;
  readonly secrets: DriverSecrets;
  readonly expander?: Pick<VolumeExpander, 'whileMounting' | 'online' | 'forget'> | undefined;
}

/** All that is fetched before anything is set up. */
interface BlockPreparations {
  readonly client: DriverClient;
  readonly capabilities: ReadonlySet<DriverCapability>;
  readonly stageSecrets: Readonly<Record<string, string>>;
  readonly publishSecrets: Readonly<Record<string, string>>;
}

/**
 * Volumes of CSI drivers that pods get as devices.
 *
 *   absent ──attached──> link in the pod ──> record ──> link of the pod at the volume ──> stage ──> publish ──> held open
 *      ^──── link in the pod <── record <── unstage, after the last pod <── link at the volume <── unpublish <───┘
 *
 * The disk is the state. The agent holds a device open while a pod has it: otherwise the kernel could give the number of a
 * removed device to another disk, and the pod would write there.
 */
export class CsiBlockVolumes implements CsiDevices, Component {
  readonly name = 'csi block volumes';
  readonly #deps: CsiBlockVolumesDeps;
  readonly #records: BlockRecords;
  /** Pods share a volume: one operation at a time for each. */
  readonly #mutex = new KeyedMutex();
  /** Staged by this process. Volumes that an earlier one staged are staged again: NodeStageVolume is idempotent. */
  readonly #staged = new Set<string>();
  /** By PersistentVolume; unset before the disk was read. */
  #inUse: Map<string, DriverVolume> | undefined;

  constructor(deps: CsiBlockVolumesDeps) {
    this.#deps = deps;
    this.#records = new BlockRecords(deps);
  }

  /** Reads what an earlier process left, before the node's status reports what is in use. */
  async start(): Promise<void> {
    const found = (await this.#records.names()).map(async (name) => [name, await this.#records.read(name)] as const);
    this.#inUse = new Map(
      (await Promise.all(found)).flatMap(([name, data]) => (data === undefined ? [] : [[name, data]])),
    );
  }

  async stop(): Promise<void> {}

  /** Volumes that a controller must not detach from this node; undefined before that is known. */
  inUse(): readonly string[] | undefined {
    if (this.#inUse === undefined) return undefined;
    const attached = [...this.#inUse.values()].filter(({ driver }) =>
      mayBeAttached(this.#deps.cluster?.objects, driver),
    );
    return [...new Set(attached.map(attachableName))];
  }

  /** Tears down volumes whose pods have no link any more, of one driver or of all. Never rejects. */
  async cleanUp(driver?: string): Promise<void> {
    const { log } = this.#deps;
    try {
      for (const name of await this.#records.names()) await this.#cleanUp(name, driver);
    } catch (error) {
      log.error(error, 'Folders of block volumes cannot be read');
    }
  }

  async setUp(request: VolumeRequest, signal: AbortSignal): Promise<MountedVolume> {
    const spec = csiVolumeSpec(request);
    if (isReserved(spec.name)) {
      const refusal = new TubeletError('unsupported', `no block volume can be called ${spec.name}`);
      throw asStep('MapVolume.SetUpDevice failed', refusal);
    }
    const { cluster } = this.#deps;
    const isAttached = cluster !== undefined && isAttachRequired(cluster.objects.get(spec.driver));
    const context = isAttached
      ? await inStep('MapVolume.WaitForAttach failed', signal, () => cluster.attachments.wait(spec, signal))
      : {};
    return this.#mutex.run(spec.name, () => this.#setUp(request, spec, context, signal), signal);
  }

  /** Expands the volume while pods use it, where its claim asks for more. */
  async resize(request: VolumeRequest, before: ClaimedVolume, signal: AbortSignal): Promise<void> {
    const spec = csiVolumeSpec(request);
    const { drivers, expander } = this.#deps;
    await this.#mutex.run(
      spec.name,
      async () => {
        const capabilities = await drivers.find(spec.driver).capabilities({ signal });
        await expander?.online(request, before, this.#expandPlace(request, spec, capabilities), signal);
      },
      signal,
    );
  }

  /** Needs nothing but the disk. */
  tearDown(place: VolumePlace): Promise<void> {
    return this.#mutex.run(place.name, async () => {
      try {
        await this.#tearDown(place);
      } catch (error) {
        throw notUnmapped(place, error);
      }
    });
  }

  async #setUp(
    request: VolumeRequest,
    spec: CsiVolumeSpec,
    context: PublishContext,
    signal: AbortSignal,
  ): Promise<MountedVolume> {
    const { devices, expander } = this.#deps;
    const place: VolumePlace = { uid: request.pod.uid, name: spec.name };
    const volumePath = this.#records.published(place);
    const prepared = await inStep('MapVolume.SetUpDevice failed', signal, () => this.#prepare(spec, signal));
    const grown = this.#expandPlace(request, spec, prepared.capabilities);

    await inStep('MapVolume.MapBlockVolume failed', signal, () => this.#records.put(place, spec));
    this.#inUse?.set(spec.name, spec);
    if (grown.stagingPath !== undefined) {
      const target = grown.stagingPath;
      const facts = { target, context, capability: grown.capability, secrets: prepared.stageSecrets };
      await inStep('MapVolume.SetUpDevice failed', signal, () => this.#stage(spec, prepared.client, facts, signal));
    }
    await inStep('MapVolume.MapPodDevice failed', signal, async () => {
      await this.#records.makePublished(spec.name);
      const shared = { context, capability: grown.capability, secrets: prepared.publishSecrets, podContext: {} };
      const facts = { target: volumePath, staging: grown.stagingPath, ...shared };
      await prepared.client.publish(publishRequest(spec, facts), { signal });
    });
    await inStep('MapVolume.MapBlockVolume failed', signal, () => devices.hold(volumePath, signal));
    await expander?.whileMounting(request, grown, signal);
    return {
      hostPath: this.#records.link(place),
      driver: { name: spec.driver, volumeHandle: spec.handle, volumePath },
      ...(spec.readOnly && { readOnly: true }),
    };
  }

  async #prepare(spec: CsiVolumeSpec, signal: AbortSignal): Promise<BlockPreparations> {
    const { drivers, secrets } = this.#deps;
    const client = drivers.find(spec.driver);
    return {
      client,
      capabilities: await client.capabilities({ signal }),
      stageSecrets: await fetchSecrets(secrets, 'NodeStageSecretRef', spec.stageSecret, signal),
      publishSecrets: await fetchSecrets(secrets, 'NodePublishSecretRef', spec.publishSecret, signal),
    };
  }

  async #stage(
    spec: CsiVolumeSpec,
    client: DriverClient,
    facts: Parameters<typeof stageRequest>[1],
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#staged.has(spec.name)) return;
    await this.#records.makeStaging(spec.name);
    await client.stage(stageRequest(spec, facts), { signal });
    this.#staged.add(spec.name);
  }

  #expandPlace({ pod: { uid } }: VolumeRequest, spec: CsiVolumeSpec, capabilities: ReadonlySet<DriverCapability>) {
    const { name, accessModes = [] } = spec;
    const isStaged = capabilities.has('STAGE_UNSTAGE_VOLUME');
    return {
      volumePath: this.#records.published({ uid, name }),
      stagingPath: isStaged ? this.#records.of(name).staging : undefined,
      capability: blockCapability(accessModes, capabilities),
    };
  }

  async #tearDown(place: VolumePlace): Promise<void> {
    const { devices, drivers, expander } = this.#deps;
    const { name } = place;
    const targetPath = this.#records.published(place);
    await devices.release(targetPath);
    const data = await this.#records.read(name);
    const client = data && drivers.find(data.driver);
    if (data === undefined) await this.#records.requireNothing(place);
    // Also when nothing is there: an earlier publish may still be running, and unpublish ends it.
    else await client?.unpublish({ volumeId: data.handle, targetPath });
    await this.#records.dropUser(place);
    if ((await this.#records.users(name)).length === 0) {
      this.#staged.delete(name);
      const isStaged = (await this.#records.hasStaging(name)) && data !== undefined;
      if (isStaged && (await client?.capabilities())?.has('STAGE_UNSTAGE_VOLUME') === true) {
        await client?.unstage({ volumeId: data.handle, stagingTargetPath: this.#records.of(name).staging });
      }
      await this.#records.dropVolume(name);
      this.#inUse?.delete(name);
      expander?.forget(name);
    }
    await this.#records.dropLink(place);
  }

  async #cleanUp(name: string, driver: string | undefined): Promise<void> {
    try {
      const data = await this.#records.read(name);
      if (data === undefined || (driver !== undefined && data.driver !== driver)) return;
      for (const uid of await this.#records.users(name)) {
        if (!(await this.#records.hasLink({ uid, name }))) await this.tearDown({ uid, name });
      }
    } catch (error) {
      this.#deps.log.warn('Block volume that no pod has cannot be torn down', { volume: name, err: messageOf(error) });
    }
  }
}
