import { describeError } from '../base/errors.ts';
import { cutLetters, maxLineBytes } from './line-limit.ts';
import type { LogLine } from './log-line.ts';
import { jsonText, objectReference } from './log-value.ts';

/** `{"ts":1700000000000.123,"caller":"file.ts:240","msg":"Message","v":0,"key":"value"}`, with the line break. */
export function klogJson(line: LogLine): string {
  const text = jsonLine(line);
  if (text.length * 3 <= maxLineBytes || Buffer.byteLength(text) <= maxLineBytes) return text;
  for (const letters of cuts) {
    const cut = jsonLine(shortened(line, letters));
    if (Buffer.byteLength(cut) <= maxLineBytes) return cut;
  }
  return jsonLine({ ...shortened(line, 100), fields: {} });
}

/** How many letters of each value are tried; one letter may take a dozen. */
const cuts = [2_000, 500, 100];

function shortened(line: LogLine, letters: number): LogLine {
  const fields = Object.entries(line.fields).map(([key, value]) => {
    const text = typeof value === 'string' ? value : value === undefined ? '' : fieldValue(value);
    return [key, text.length > letters ? cutLetters(text, letters) : value] as const;
  });
  return {
    ...line,
    message: cutLetters(line.message, letters),
    fields: Object.fromEntries(fields),
    error: line.error === undefined ? undefined : cutLetters(line.error, letters),
  };
}

function jsonLine(line: LogLine): string {
  // Microseconds are what the clock gives; more digits would be noise of the floating point.
  const parts = [`"ts":${Math.floor(line.time * 1_000) / 1_000}`, `"caller":${jsonText(line.position)}`];
  parts.push(`"msg":${jsonText(line.message)}`);
  if (line.severity !== 'error') parts.push(`"v":${line.level}`);
  for (const [key, value] of Object.entries(line.fields)) {
    if (value !== undefined) parts.push(`${jsonText(key)}:${fieldValue(value)}`);
  }
  if (line.error !== undefined) parts.push(`"err":${jsonText(line.error)}`);
  return `{${parts.join(',')}}\n`;
}

function fieldValue(value: unknown): string {
  if (value instanceof Error) return jsonText(describeError(value));
  const reference = objectReference(value);
  if (reference === undefined) return jsonText(value);
  const { name, namespace } = reference;
  return jsonText(namespace === '' ? { name } : { name, namespace });
}
