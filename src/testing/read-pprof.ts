import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { gunzipSync } from 'node:zlib';

/** A profile as a reader of profile.proto sees it: numbers of fields and texts resolved, nothing else interpreted. */
interface ReadProfile {
  readonly sampleTypes: readonly string[];
  /** Stacks as `inner < outer`, with their values. */
  readonly samples: readonly { readonly stack: string; readonly values: readonly number[] }[];
  readonly periodType: string;
  readonly period: number;
  readonly timeNanos: bigint;
  readonly durationNanos: bigint;
  readonly program: string;
}

type Fields = ReadonlyMap<number, readonly (number | bigint | Uint8Array)[]>;

export function readPprof(packed: Uint8Array): ReadProfile {
  const profile = fieldsOf(gunzipSync(packed));
  const texts = bytesOf(profile, 6).map((bytes) => new TextDecoder().decode(bytes));
  if (texts[0] !== '') throw new Error('the first text must be empty');
  const text = (fields: Fields, field: number): string => texts[one(fields, field)] ?? '?';
  const type = (bytes: Uint8Array): string => `${text(fieldsOf(bytes), 1)}/${text(fieldsOf(bytes), 2)}`;
  const functions = new Map(
    bytesOf(profile, 5)
      .map(fieldsOf)
      .map((fields) => [one(fields, 1), `${text(fields, 2)} ${text(fields, 4)}:${one(fields, 5)}`]),
  );
  const locations = new Map(
    bytesOf(profile, 4)
      .map(fieldsOf)
      .map((fields) => [one(fields, 1), functions.get(one(fieldsOf(bytesOf(fields, 4)[0]), 1)) ?? '?']),
  );
  return {
    sampleTypes: bytesOf(profile, 1).map(type),
    samples: bytesOf(profile, 2)
      .map(fieldsOf)
      .map((fields) => ({
        stack: unpack(fields, 1)
          .map((id) => locations.get(id) ?? '?')
          .join(' < '),
        values: unpack(fields, 2),
      })),
    periodType: type(bytesOf(profile, 11)[0] ?? new Uint8Array()),
    period: one(profile, 12),
    timeNanos: profile.get(9)?.[0] as bigint,
    durationNanos: profile.get(10)?.[0] as bigint,
    program: text(fieldsOf(bytesOf(profile, 3)[0]), 5),
  };
}

function fieldsOf(bytes: Uint8Array | undefined): Fields {
  const reader = new BinaryReader(bytes ?? new Uint8Array());
  const fields = new Map<number, (number | bigint | Uint8Array)[]>();
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    const value = wire === WireType.LengthDelimited ? reader.bytes() : BigInt(reader.int64());
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

function bytesOf(fields: Fields, field: number): readonly Uint8Array[] {
  return (fields.get(field) ?? []).filter((value): value is Uint8Array => value instanceof Uint8Array);
}

function one(fields: Fields, field: number): number {
  return Number(fields.get(field)?.[0] ?? 0);
}

function unpack(fields: Fields, field: number): readonly number[] {
  const reader = new BinaryReader(bytesOf(fields, field)[0] ?? new Uint8Array());
  const values: number[] = [];
  while (reader.pos < reader.len) values.push(Number(reader.int64()));
  return values;
}
