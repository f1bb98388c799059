import { tokensKey } from './driver-spec.ts';
import { raceAbort } from '../../base/abort.ts';
import type { Calls } from '../../base/calls.ts';
import type { CallOptions } from '../../base/call.ts';
import type { Clock } from '../../base/clock.ts';
import { kindOf, TubeletError } from '../../base/errors.ts';
import { maskError, secretTexts } from '../../base/mask-errors.ts';
import type { OpenRpc, RpcChannel, RpcMethod } from '../../base/rpc.ts';
import type * as csi from '../../gen/csi/v1.ts';
import type {
  NodeExpandVolumeRequest,
  NodeGetVolumeStatsRequest,
  NodeGetVolumeStatsResponse,
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
  NodeUnpublishVolumeRequest,
  NodeUnstageVolumeRequest,
} from '../../gen/csi/v1.ts';
import type { StorageDriver } from '../../model/storage-driver.ts';
import { capabilitiesOf, type DriverCapability } from './driver-capabilities.ts';
import type { RecordDriverCall } from './driver-metrics.ts';

interface DriverClientDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly open: OpenRpc;
  readonly called: RecordDriverCall;
  /** Records calls while they are under way. */
  readonly calls: Calls;
  readonly name: string;
  readonly endpoint: string;
}

const callMs = 120_000;
const maxReportedVolumes = 2 ** 31 - 1;

/**
 * One storage driver. Calls end after two minutes at the latest. Their errors carry the driver's code and message without
 * the secrets that the driver was given, because errors go into events and logs. The first call loads the messages and
 * connects.
 */
export class DriverClient {
  readonly name: string;
  readonly endpoint: string;
  readonly #deps: DriverClientDeps;
  readonly #channel: RpcChannel;
  /** Of this connection: after a reconnect the driver may be another version. */
  #capabilities: Promise<ReadonlySet<DriverCapability>> | undefined;

  constructor(deps: DriverClientDeps) {
    this.#deps = deps;
    this.name = deps.name;
    this.endpoint = deps.endpoint;
    this.#channel = deps.open(deps.endpoint, () => (this.#capabilities = undefined));
  }

  async stage(request: Partial<NodeStageVolumeRequest>, options?: CallOptions): Promise<void> {
    const { NodeService, NodeStageVolumeRequest: message } = await messages();
    await this.#call(NodeService.nodeStageVolume, message.fromPartial(request), options);
  }

  async unstage(request: NodeUnstageVolumeRequest, options?: CallOptions): Promise<void> {
    const { NodeService } = await messages();
    await this.#call(NodeService.nodeUnstageVolume, request, options);
  }

  async publish(request: Partial<NodePublishVolumeRequest>, options?: CallOptions): Promise<void> {
    const { NodeService, NodePublishVolumeRequest: message } = await messages();
    await this.#call(NodeService.nodePublishVolume, message.fromPartial(request), options);
  }

  async unpublish(request: NodeUnpublishVolumeRequest, options?: CallOptions): Promise<void> {
    const { NodeService } = await messages();
    await this.#call(NodeService.nodeUnpublishVolume, request, options);
  }

  async stats(request: Partial<NodeGetVolumeStatsRequest>, options?: CallOptions): Promise<NodeGetVolumeStatsResponse> {
    const { NodeService, NodeGetVolumeStatsRequest: message } = await messages();
    return this.#call(NodeService.nodeGetVolumeStats, message.fromPartial(request), options);
  }

  /** Returns the size of the volume now; undefined where the driver does not report it. */
  async expand(request: Partial<NodeExpandVolumeRequest>, options?: CallOptions): Promise<bigint | undefined> {
    const { NodeService, NodeExpandVolumeRequest: message } = await messages();
    const { capacityBytes } = await this.#call(NodeService.nodeExpandVolume, message.fromPartial(request), options);
    return capacityBytes > 0n ? capacityBytes : undefined;
  }

  /** Fetched once for each connection. */
  async capabilities(options?: CallOptions): Promise<ReadonlySet<DriverCapability>> {
    const asked = (this.#capabilities ??= this.#askCapabilities());
    const { signal } = options ?? {};
    try {
      return await (signal === undefined ? asked : raceAbort(asked, signal));
    } catch (error) {
      // The next call retries. The abort of one caller does not affect the others.
      if (signal?.aborted !== true && this.#capabilities === asked) this.#capabilities = undefined;
      throw error;
    }
  }

  async node(options?: CallOptions): Promise<StorageDriver> {
    const { NodeService } = await messages();
    const answer = await this.#call(NodeService.nodeGetInfo, {}, options);
    if (answer.nodeId === '') throw new TubeletError('invalid', `driver ${this.name} has no id for this node`);
    const reported = Number(answer.maxVolumesPerNode);
    return {
      nodeId: answer.nodeId,
      topology: answer.accessibleTopology?.segments ?? {},
      maxVolumes: reported > 0 ? Math.min(reported, maxReportedVolumes) : undefined,
    };
  }

  /** No new calls; those under way go on to their own end. */
  close(): void {
    this.#channel.close();
  }

  async #askCapabilities(): Promise<ReadonlySet<DriverCapability>> {
    const { NodeService } = await messages();
    return capabilitiesOf(await this.#call(NodeService.nodeGetCapabilities, {}));
  }

  async #call<Request, Response>(
    method: RpcMethod<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): Promise<Response> {
    const { clock, called, name, calls } = this.#deps;
    const verb = method.path.slice(method.path.lastIndexOf('/') + 1);
    const end = calls.begin({ system: `driver:${name}`, verb, ...subjectOf(request) });
    const began = clock.monotonic();
    const report = (code: string): void => called(name, method.path, code, (clock.monotonic() - began) / 1_000);
    try {
      const answer = await this.#channel.call(method, request, { timeoutMs: callMs, ...options });
      report('OK');
      end();
      return answer;
    } catch (error) {
      const code = (error instanceof TubeletError ? error.code : undefined) ?? 'Unknown';
      report(code);
      // Without the message: a driver was given secrets, and may quote them.
      end({ kind: kindOf(error), message: code });
      throw maskError(error, secretsOfRequest(request));
    }
  }
}

/** The volume by its id, and nothing else: requests carry secrets. */
function subjectOf(request: unknown): { readonly subject?: string } {
  const id: unknown = Reflect.get(Object(request), 'volumeId');
  return typeof id === 'string' && id !== '' ? { subject: `volumeId=${id}` } : {};
}

function messages(): Promise<typeof csi> {
  return import('../../gen/csi/v1.ts');
}

/** The secrets and service account tokens of a request to a driver, in the forms in which a text may quote them. */
function secretsOfRequest(request: unknown): readonly string[] {
  const { secrets = {}, volumeContext = {} } = Object(request) as {
    readonly secrets?: Readonly<Record<string, string>>;
    readonly volumeContext?: Readonly<Record<string, string>>;
  };
  const tokens = volumeContext[tokensKey] ?? '';
  const each = [...tokens.matchAll(/"token":"([^"]+)"/g)].map(([, token]) => token ?? '');
  return secretTexts([...Object.values(secrets), tokens, ...each]);
}
