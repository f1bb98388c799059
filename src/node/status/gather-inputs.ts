import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { NodeFeatures } from '../../gen/kubernetes/types.ts';
import type { HostIdentity } from '../../model/host-facts.ts';
import type { NodeHost, RuntimeReader } from '../ports.ts';
import type { NodeSettings } from '../settings.ts';
import { needsLookup } from './addresses.ts';
import { LastKnown } from './last-known.ts';
import type { NodeDevices, NodeImage, NodeInputs, NodePressure, RuntimeHandlerInfo } from './setter.ts';

/** The sources of the status. Missing ones do not exist yet. */
export interface NodeSources {
  readonly host: NodeHost;
  readonly runtime: RuntimeReader;
  /** Why no pod should come here now, in this order: runtime, network, storage, shutdown. */
  readonly notReady: () => readonly string[];
  readonly handlers: () => readonly RuntimeHandlerInfo[];
  readonly features: () => NodeFeatures | undefined;
  readonly pressure: () => NodePressure;
  readonly devices: () => NodeDevices;
  readonly volumesInUse: () => readonly string[] | undefined;
  readonly softRequirement?: () => string | undefined;
}

interface GatherDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: NodeSettings;
  readonly sources: NodeSources;
}

/** The ready condition must not wait for a source that does not answer. */
const timeoutMs = 2_000;
const identityAgeMs = 300_000;
const imagesAgeMs = 30_000;
const versionAgeMs = 9_000;
const lookupAgeMs = 9_000;
const rootFsAgeMs = 60_000;
const protocolVersion = '0.1.0';

/** Reads all inputs of a status. It never fails: an unreadable input keeps its last value, or is missing. */
export class InputGatherer {
  readonly #deps: GatherDeps;
  readonly #identity: LastKnown<HostIdentity>;
  readonly #rootFsBytes: LastKnown<bigint>;
  readonly #resolved: LastKnown<readonly string[]>;
  readonly #version: LastKnown<{ readonly name: string; readonly version: string }>;
  readonly #images: LastKnown<readonly NodeImage[]>;

  constructor(deps: GatherDeps) {
    this.#deps = deps;
    const { host, runtime } = deps.sources;
    const { nodeName } = deps.settings;
    this.#identity = this.#known('machine', identityAgeMs, () => host.identity());
    this.#rootFsBytes = this.#known('root file system', rootFsAgeMs, () => host.rootFsBytes());
    this.#resolved = this.#known('name service', lookupAgeMs, () => host.lookup(nodeName));
    this.#version = this.#known('runtime version', versionAgeMs, async () => {
      const { runtimeName: name, runtimeVersion: version } = await runtime.version({ version: protocolVersion });
      return { name, version };
    });
    this.#images = this.#known('image list', imagesAgeMs, async () =>
      (await runtime.listImages({ filter: undefined })).images.map(({ id, repoDigests, repoTags, size }) => ({
        id,
        digests: repoDigests,
        tags: repoTags,
        sizeBytes: Number(size),
      })),
    );
  }

  async gather(wasUnschedulable: boolean): Promise<NodeInputs> {
    const { settings, sources } = this.#deps;
    const [identity, rootFsBytes, resolved, runtimeVersion, images] = await Promise.all([
      this.#identity.get(),
      this.#rootFsBytes.get(),
      needsLookup(settings) ? this.#resolved.get() : [],
      this.#version.get(),
      this.#images.get(),
    ]);
    const { host } = sources;
    const features = sources.features();
    const softRequirement = sources.softRequirement?.();
    const volumesInUse = sources.volumesInUse();
    return {
      settings,
      network: host.network(),
      resolved: resolved ?? [],
      capacity: {
        ...host.capacity(),
        ...(rootFsBytes !== undefined && { 'ephemeral-storage': String(rootFsBytes) }),
      },
      swapBytes: host.swapBytes(),
      devices: sources.devices(),
      handlers: sources.handlers(),
      pressure: sources.pressure(),
      // Read last, after all waiting is over.
      notReady: sources.notReady(),
      wasUnschedulable,
      ...(identity && { identity }),
      ...(runtimeVersion && { runtimeVersion }),
      ...(images && { images }),
      ...(features && { features }),
      ...(softRequirement !== undefined && { softRequirement }),
      ...(volumesInUse && { volumesInUse }),
    };
  }

  #known<T>(what: string, maxAgeMs: number, read: () => Promise<T>): LastKnown<T> {
    const { clock, log } = this.#deps;
    const onError = (error: unknown): void =>
      log.debug(2, 'Part of the node status could not be read', { what, err: messageOf(error) });
    return new LastKnown({ clock, read, maxAgeMs, timeoutMs, onError });
  }
}
