import { describeError } from '../base/errors.ts';
import type { NamespacedName } from '../model/pod-reference.ts';

/** Pods and other named objects are written as their names alone: `{name, namespace}` with any other fields, or an API object with them in its metadata. */
export function objectReference(value: unknown): NamespacedName | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, namespace, metadata } = value as Record<string, unknown>;
  if (typeof name === 'string' && typeof namespace === 'string') return { name, namespace };
  return metadata === undefined ? undefined : objectReference(metadata);
}

/**
 * JSON of any value on one line. Never throws: a log line about a strange value must not become the failure. HTML
 * letters are escaped, as Go's encoder does it.
 */
export function jsonText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, plainValue);
  } catch (error) {
    text = JSON.stringify(`<internal error: ${describeError(error)}>`);
  }
  return (text ?? 'null').replace(/[<>&\u2028\u2029]/g, (letter) => {
    return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** What JSON has no word for. */
function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Error) return describeError(value);
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value;
}
