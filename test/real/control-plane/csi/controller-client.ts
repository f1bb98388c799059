import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { RpcChannel, RpcMethod } from '../../../../src/base/rpc.ts';
import { CapacityRange, VolumeCapability } from '../../../../src/gen/csi/v1.ts';

/** A volume as its driver describes it. */
export interface MadeVolume {
  readonly id: string;
  readonly bytes: bigint;
}

type Fields = ReadonlyMap<number, readonly (Uint8Array | bigint)[]>;

/**
 * The controller's side of a storage driver, as far as provisioner, attacher and resizer use it. An agent has nothing to do
 * with it, so that its messages are not among the generated ones; field numbers are those of the CSI specification.
 */
export class ControllerClient {
  readonly #channel: RpcChannel;

  constructor(channel: RpcChannel) {
    this.#channel = channel;
  }

  async createVolume(name: string, bytes: bigint, capability: VolumeCapability): Promise<MadeVolume> {
    const answer = await this.#call('CreateVolume', (request) => {
      request.tag(1, WireType.LengthDelimited).string(name);
      writeRange(request, 2, bytes);
      writeCapability(request, 3, capability);
    });
    const volume = readFields(bytesOf(answer, 1));
    return { id: new TextDecoder().decode(bytesOf(volume, 2)), bytes: numberOf(volume, 1) };
  }

  async deleteVolume(id: string): Promise<void> {
    await this.#call('DeleteVolume', (request) => void request.tag(1, WireType.LengthDelimited).string(id));
  }

  /** What the driver wants the node to know of the attachment. */
  async publishVolume(id: string, nodeId: string, capability: VolumeCapability): Promise<Record<string, string>> {
    const answer = await this.#call('ControllerPublishVolume', (request) => {
      request.tag(1, WireType.LengthDelimited).string(id);
      request.tag(2, WireType.LengthDelimited).string(nodeId);
      writeCapability(request, 3, capability);
    });
    const text = (entry: Fields, field: number): string => new TextDecoder().decode(bytesOf(entry, field));
    const entries = (answer.get(1) ?? []).filter((value) => typeof value !== 'bigint').map(readFields);
    return Object.fromEntries(entries.map((entry) => [text(entry, 1), text(entry, 2)]));
  }

  async unpublishVolume(id: string, nodeId: string): Promise<void> {
    await this.#call('ControllerUnpublishVolume', (request) => {
      request.tag(1, WireType.LengthDelimited).string(id);
      request.tag(2, WireType.LengthDelimited).string(nodeId);
    });
  }

  /** Answers the new size, and whether the node has to do its part. */
  async expandVolume(id: string, bytes: bigint): Promise<{ readonly bytes: bigint; readonly nodeMustExpand: boolean }> {
    const answer = await this.#call('ControllerExpandVolume', (request) => {
      request.tag(1, WireType.LengthDelimited).string(id);
      writeRange(request, 2, bytes);
    });
    return { bytes: numberOf(answer, 1), nodeMustExpand: numberOf(answer, 2) !== 0n };
  }

  close(): void {
    this.#channel.close();
  }

  #call(name: string, write: (request: BinaryWriter) => void): Promise<Fields> {
    const method: RpcMethod<(request: BinaryWriter) => void, Fields> = {
      path: `/csi.v1.Controller/${name}`,
      requestSerialize: (fill) => {
        const request = new BinaryWriter();
        fill(request);
        return Buffer.from(request.finish());
      },
      responseDeserialize: readFields,
    };
    return this.#channel.call(method, write, { timeoutMs: 60_000 });
  }
}

function writeRange(request: BinaryWriter, field: number, requiredBytes: bigint): void {
  const range = CapacityRange.encode({ requiredBytes, limitBytes: 0n }).finish();
  request.tag(field, WireType.LengthDelimited).bytes(range);
}

function writeCapability(request: BinaryWriter, field: number, capability: VolumeCapability): void {
  request.tag(field, WireType.LengthDelimited).bytes(VolumeCapability.encode(capability).finish());
}

/** The fields of a message by number, as they come. */
function readFields(message: Uint8Array): Fields {
  const reader = new BinaryReader(message);
  const fields = new Map<number, (Uint8Array | bigint)[]>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const values = fields.get(field) ?? [];
    fields.set(field, values);
    if (type === WireType.LengthDelimited) values.push(reader.bytes());
    else if (type === WireType.Varint) values.push(BigInt(reader.int64()));
    else reader.skip(type, field);
  }
  return fields;
}

function bytesOf(fields: Fields, field: number): Uint8Array {
  const value = fields.get(field)?.[0];
  return typeof value === 'object' ? value : new Uint8Array();
}

function numberOf(fields: Fields, field: number): bigint {
  const value = fields.get(field)?.[0];
  return typeof value === 'bigint' ? value : 0n;
}
