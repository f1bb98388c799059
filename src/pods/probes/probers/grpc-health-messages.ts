import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The two messages of grpc.health.v1.Health/Check, of which each has one field, numbered one. */

const statusNames: readonly string[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

export function encodeCheckRequest(service: string): Buffer {
  const writer = new BinaryWriter();
  if (service !== '') writer.tag(1, WireType.LengthDelimited).string(service);
  return Buffer.from(writer.finish());
}

/** The name of the status; an unknown one is its number. */
export function decodeCheckResponse(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  let status = 0;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.Varint) status = reader.int32();
    else reader.skip(wireType, field);
  }
  return statusNames[status] ?? String(status);
}
