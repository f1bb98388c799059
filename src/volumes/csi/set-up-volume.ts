import { kindOf, messageOf } from '../../base/errors.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podUidFields } from '../../model/pod-log.ts';
import { setVolumeOwnership } from '../contents/set-volume-ownership.ts';
import type { MountedVolume, VolumePlace, VolumeRequest } from '../ports.ts';
import { VolumeStepError } from '../volume-failures.ts';
import type { PublishContext } from './attach-wait.ts';
import type { CsiFileVolumesDeps } from './csi-volumes-deps.ts';
import type { DriverClient } from './driver-client.ts';
import { isUncertain } from './driver-errors.ts';
import type { FsGroupChoice } from './driver-spec.ts';
import type { ExpandPlace } from './expand-volumes.ts';
import type { PodHolds } from './pod-holds.ts';
import type { Staging } from './staging.ts';
import { attachmentName } from './volume-names.ts';
import { capabilityOf, stages, stepped, VolumePreparations, type MountPreparations } from './volume-preparations.ts';
import { publishRequest, stageRequest, type CsiVolumeSpec } from './volume-spec.ts';

interface SetUpVolumeDeps extends CsiFileVolumesDeps {
  readonly holds: PodHolds;
  readonly staging: Staging;
}

/** What is known of a volume that this process has published. */
export interface PublishedVolume {
  readonly mounted: MountedVolume;
  readonly context: PublishContext;
  /** Where its driver has it. */
  readonly place: ExpandPlace;
}

/** How old a publication is before it is repeated for a driver with requiresRepublish. */
const republishMs = 60_000;

/** One try at publishing a volume to a pod, with all that comes before it. */
export class SetUpVolume {
  readonly #deps: SetUpVolumeDeps;
  readonly #preparations: VolumePreparations;

  constructor(deps: SetUpVolumeDeps) {
    this.#deps = deps;
    this.#preparations = new VolumePreparations(deps);
  }

  /** `before`: the pod uses it already, and keeps it if this fails. */
  async run(
    request: VolumeRequest,
    spec: CsiVolumeSpec,
    before: PublishedVolume | undefined,
    held: () => void,
    signal: AbortSignal,
  ): Promise<PublishedVolume> {
    const prepared = await this.#preparations.gather(request, spec, before?.context, signal);
    const place: VolumePlace = { uid: request.pod.uid, name: spec.name };
    const isNew = await this.#hold(place, spec);
    held();
    const staging = await this.#stage(place, spec, prepared, isNew, signal);
    await this.#publish(place, spec, prepared, { staging, isNew }, signal);
    const { target } = this.#deps.holds.placeOf(place);
    const driven = { volumePath: target, stagingPath: staging, capability: capabilityOf(spec, prepared) };
    if (before === undefined) {
      await this.#setVolumeOwnership(request.pod, spec, prepared.group, target, signal);
      if (spec.lifecycle === 'Persistent') await this.#deps.expander?.whileMounting(request, driven, signal);
    }
    return { mounted: this.#mounted(spec, prepared, target), context: prepared.context, place: driven };
  }

  /** Recorded before the first call to the driver, so that a later process finds the volume after a crash. */
  #hold(place: VolumePlace, { driver, handle, lifecycle }: CsiVolumeSpec): Promise<boolean> {
    const { holds, nodeName } = this.#deps;
    const attachment = attachmentName({ driver, handle }, nodeName);
    return holds.take(place, { driver, handle, name: place.name, nodeName, attachment, lifecycle });
  }

  /** Returns where it is staged; undefined for a volume that is not. */
  async #stage(
    place: VolumePlace,
    spec: CsiVolumeSpec,
    prepared: MountPreparations,
    isNew: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, context, seLinux, stageSecrets: secrets, capabilities } = prepared;
    const { staging } = this.#deps;
    if (!stages(spec, capabilities)) return undefined;
    const data = {
      driver: spec.driver,
      handle: spec.handle,
      ...(seLinux !== undefined && { seLinuxContext: seLinux }),
    };
    const capability = capabilityOf(spec, prepared);
    const call = (target: string): Promise<void> =>
      client.stage(stageRequest(spec, { target, context, capability, secrets }), { signal });
    try {
      await staging.ensure(data, call, signal);
    } catch (error) {
      if (isNew && !isUncertain(error)) await this.#abandon(place, spec, client);
      signal.throwIfAborted();
      throw stepped('MountVolume.MountDevice failed', error);
    }
    return staging.placeOf(spec).target;
  }

  async #publish(
    place: VolumePlace,
    spec: CsiVolumeSpec,
    prepared: MountPreparations,
    { staging, isNew }: { readonly staging: string | undefined; readonly isNew: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { client, context, publish } = prepared;
    const { target } = this.#deps.holds.placeOf(place);
    const capability = capabilityOf(spec, prepared);
    try {
      const request = publishRequest(spec, { target, staging, context, capability, ...publish });
      await this.#deps.staging.exclusively(spec, () => client.publish(request, { signal }), signal);
    } catch (error) {
      // What is staged stays for the next try, and the hold with it, which is what later unstages it.
      if (isNew && staging === undefined && !isUncertain(error)) await this.#abandon(place, spec, client);
      signal.throwIfAborted();
      throw stepped('MountVolume.SetUp failed', error);
    }
  }

  /** The driver's final error says that nothing was set up, so the record is removed: there is nothing to tear down. */
  async #abandon(place: VolumePlace, spec: CsiVolumeSpec, client: DriverClient): Promise<void> {
    const { files, holds, log, mounts, staging } = this.#deps;
    const { target } = holds.placeOf(place);
    try {
      if ((await mounts.atOrBelow(target)).length > 0) return;
      await files.removeEmpty(target);
      if (spec.lifecycle === 'Persistent') await staging.release(spec, place, client);
      else await holds.drop(place);
    } catch (error) {
      // The hold stays then, and is released with the pod.
      log.debug(2, 'Volume that could not be set up stays on record', {
        ...podUidFields(place.uid),
        volume: place.name,
        err: messageOf(error),
      });
    }
  }

  async #setVolumeOwnership(
    pod: DesiredPod,
    spec: CsiVolumeSpec,
    group: FsGroupChoice,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (group.by !== 'agent') return;
    const { clock, events, hostPaths: paths } = this.#deps;
    const policy = pod.spec.securityContext?.fsGroupChangePolicy;
    const change = { pod, path, group: { gid: group.gid, readOnly: false }, policy };
    try {
      await setVolumeOwnership({ clock, paths, events }, change, signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `applyFSGroup failed for vol ${spec.handle}: ${messageOf(error)}`;
      throw new VolumeStepError('MountVolume.SetUp failed', kindOf(error), message);
    }
  }

  #mounted(
    { driver, handle, readOnly }: CsiVolumeSpec,
    { object, seLinux }: MountPreparations,
    hostPath: string,
  ): MountedVolume {
    const renews = object?.spec.requiresRepublish === true;
    return {
      hostPath,
      driver: { name: driver, volumeHandle: handle, volumePath: hostPath },
      // A volume that was mounted with its label cannot be relabelled, and a read-only volume must not be.
      ...(seLinux === undefined && !readOnly && { selinuxRelabel: true }),
      ...(readOnly && { readOnly }),
      ...(renews && { renewAtMs: this.#deps.clock.monotonic() + republishMs }),
    };
  }
}
