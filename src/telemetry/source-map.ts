/** A place in a source file, lines counted from 1. */
export interface SourceLine {
  readonly source: string;
  readonly line: number;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const separatorLine = 59; // ;
const separatorSegment = 44; // ,

/** Value of each base64 letter by its code; 255 for what is none. */
const digitValues = new Uint8Array(128).fill(255);
for (let value = 0; value < digits.length; value++) digitValues[digits.charCodeAt(value)] = value;

/**
 * A source map (version 3) reduced to lines: for each generated line the columns at which another source line begins.
 * A map has a segment for nearly every word; only a small part of them changes the line, and only those are kept.
 */
export class SourceMapTable {
  readonly #sources: readonly string[];
  /** Index of the first segment of each generated line, and one more for the end. */
  readonly #lineStarts: readonly number[];
  /** Triples: generated column, source, source line. */
  readonly #segments: Int32Array;

  constructor(mapJson: string) {
    const { sources, mappings } = readMap(mapJson);
    this.#sources = sources;
    const { lineStarts, segments } = decodeMappings(mappings);
    this.#lineStarts = lineStarts;
    this.#segments = Int32Array.from(segments);
  }

  /** Where a generated place comes from; line and column are counted from 1, as stack traces do it. */
  find(line: number, column: number): SourceLine | undefined {
    const first = this.#lineStarts[line - 1];
    const end = this.#lineStarts[line];
    if (first === undefined || end === undefined) return undefined;
    let low: number = first;
    let high: number = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#segments[middle * 3] ?? 0) <= column - 1) low = middle + 1;
      else high = middle;
    }
    if (low === first) return undefined;
    const source = this.#sources[this.#segments[low * 3 - 2] ?? -1];
    return source === undefined ? undefined : { source, line: (this.#segments[low * 3 - 1] ?? 0) + 1 };
  }
}

function readMap(mapJson: string): { sources: readonly string[]; mappings: string } {
  const { sources, mappings } = JSON.parse(mapJson) as { sources?: unknown; mappings?: unknown };
  if (!Array.isArray(sources) || typeof mappings !== 'string')
    throw new Error('the source map has no sources or mappings');
  return { sources: sources.map(String), mappings };
}

function decodeMappings(mappings: string): { lineStarts: number[]; segments: number[] } {
  const lineStarts = [0];
  const segments: number[] = [];
  // Column starts afresh on each line; source and source line are deltas through the whole file.
  const fields = [0, 0, 0, 0, 0];
  let field = 0;
  let value = 0;
  let shift = 0;

  const endSegment = (): void => {
    if (field >= 4) keepSegment(segments, (lineStarts.at(-1) ?? 0) * 3, fields);
    field = 0;
  };
  for (let at = 0; at < mappings.length; at++) {
    const code = mappings.charCodeAt(at);
    if (code === separatorLine || code === separatorSegment) {
      endSegment();
      if (code === separatorSegment) continue;
      lineStarts.push(segments.length / 3);
      fields[0] = 0;
      continue;
    }
    const digit = digitValues[code] ?? 255;
    if (digit === 255) throw new Error(`the source map has a letter that is no base64 at ${at}`);
    value += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    fields[field] = (fields[field] ?? 0) + ((value & 1) === 1 ? -(value >>> 1) : value >>> 1);
    field++;
    value = 0;
    shift = 0;
  }
  endSegment();
  lineStarts.push(segments.length / 3);
  return { lineStarts, segments };
}

function keepSegment(segments: number[], lineStart: number, fields: readonly number[]): void {
  const [column = 0, source = 0, line = 0] = fields;
  const last = segments.length;
  if (last > lineStart && segments[last - 2] === source && segments[last - 1] === line) return;
  segments.push(column, source, line);
}
