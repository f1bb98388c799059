import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** What a profile says, before it is written in the form that `go tool pprof` reads. */
export interface PprofProfile {
  readonly sampleTypes: readonly ValueType[];
  readonly samples: readonly PprofSample[];
  readonly periodType: ValueType;
  /** How far apart samples were taken, in the unit of its type. */
  readonly period: number;
  /** Wall time in milliseconds at which it began. */
  readonly startedAt: number;
  readonly durationMs: number;
}

interface ValueType {
  readonly type: string;
  readonly unit: string;
}

export interface PprofSample {
  /** The innermost call first. */
  readonly stack: readonly Frame[];
  /** One for each sample type. */
  readonly values: readonly number[];
}

export interface Frame {
  readonly name: string;
  readonly file: string;
  /** Where the function begins; 0 where that is unknown. */
  readonly line: number;
}

/** The numbers of fields in profile.proto, for those that are written. */
const fields = {
  profile: {
    sampleType: 1,
    sample: 2,
    mapping: 3,
    location: 4,
    function: 5,
    stringTable: 6,
    timeNanos: 9,
    durationNanos: 10,
    periodType: 11,
    period: 12,
  },
  valueType: { type: 1, unit: 2 },
  sample: { locationId: 1, value: 2 },
  mapping: { id: 1, filename: 5, hasFunctions: 7, hasFilenames: 8, hasLineNumbers: 9 },
  location: { id: 1, mappingId: 2, line: 4 },
  line: { functionId: 1, line: 2 },
  function: { id: 1, name: 2, systemName: 3, filename: 4, startLine: 5 },
} as const;

const nanosPerMs = 1_000_000n;

/** Writes a profile as profile.proto has it, not compressed. Strings and locations are written once and referred to. */
export function encodePprof(profile: PprofProfile, program: string): Uint8Array {
  const texts = new Interned<string>((text) => text);
  texts.of('');
  const frames = new Interned<Frame>(({ name, file, line }) => `${line}\0${file}\0${name}`);
  const writer = new BinaryWriter();
  const part = (field: number, write: (writer: BinaryWriter) => void): void => message(writer, field, write);
  const valueType = ({ type, unit }: ValueType) => {
    const [typeText, unitText] = [texts.of(type), texts.of(unit)];
    return (into: BinaryWriter): void => {
      number(into, fields.valueType.type, typeText);
      number(into, fields.valueType.unit, unitText);
    };
  };

  for (const type of profile.sampleTypes) part(fields.profile.sampleType, valueType(type));
  for (const { stack, values } of profile.samples) {
    const ids = stack.map((frame) => frames.of(frame) + 1);
    part(fields.profile.sample, (into) => {
      packed(into, fields.sample.locationId, ids);
      packed(into, fields.sample.value, values);
    });
  }
  writeMapping(writer, texts.of(program));
  for (const [index, frame] of frames.values().entries()) writeFrame(writer, index + 1, frame, texts);
  part(fields.profile.periodType, valueType(profile.periodType));
  for (const text of texts.values()) writer.tag(fields.profile.stringTable, WireType.LengthDelimited).string(text);
  writer.tag(fields.profile.timeNanos, WireType.Varint).int64(BigInt(Math.round(profile.startedAt)) * nanosPerMs);
  writer.tag(fields.profile.durationNanos, WireType.Varint).int64(BigInt(Math.round(profile.durationMs)) * nanosPerMs);
  number(writer, fields.profile.period, profile.period);
  return writer.finish();
}

/** Readers want to know which program a location is in, and that there is no more to find out about it. */
function writeMapping(writer: BinaryWriter, program: number): void {
  message(writer, fields.profile.mapping, (into) => {
    number(into, fields.mapping.id, 1);
    number(into, fields.mapping.filename, program);
    for (const field of [fields.mapping.hasFunctions, fields.mapping.hasFilenames, fields.mapping.hasLineNumbers]) {
      number(into, field, 1);
    }
  });
}

/** A location has one function here: both share their number. */
function writeFrame(writer: BinaryWriter, id: number, { name, file, line }: Frame, texts: Interned<string>): void {
  message(writer, fields.profile.location, (into) => {
    number(into, fields.location.id, id);
    number(into, fields.location.mappingId, 1);
    message(into, fields.location.line, (inner) => {
      number(inner, fields.line.functionId, id);
      number(inner, fields.line.line, line);
    });
  });
  message(writer, fields.profile.function, (into) => {
    number(into, fields.function.id, id);
    number(into, fields.function.name, texts.of(name));
    number(into, fields.function.systemName, texts.of(name));
    number(into, fields.function.filename, texts.of(file));
    number(into, fields.function.startLine, line);
  });
}

/** Values with the order of their first appearance. */
class Interned<T> {
  readonly #key: (value: T) => string;
  readonly #indices = new Map<string, number>();
  readonly #values: T[] = [];

  constructor(key: (value: T) => string) {
    this.#key = key;
  }

  of(value: T): number {
    const key = this.#key(value);
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    this.#indices.set(key, this.#values.length);
    return this.#values.push(value) - 1;
  }

  values(): readonly T[] {
    return this.#values;
  }
}

function message(writer: BinaryWriter, field: number, write: (writer: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}

function number(writer: BinaryWriter, field: number, value: number): void {
  writer.tag(field, WireType.Varint).int64(Math.round(value));
}

function packed(writer: BinaryWriter, field: number, values: readonly number[]): void {
  message(writer, field, (into) => {
    for (const value of values) into.int64(Math.round(value));
  });
}
