import { TubeletError } from '../base/errors.ts';
import type { ApiObject } from '../model/api-client.ts';
import type { WatchEvent } from './ports.ts';
import { LineSplitter } from './watch-lines.ts';

/** One batch of events for each piece of the body; a line cut off at the end is not an event. */
export async function* watchEvents<T extends ApiObject>(
  body: AsyncIterable<Uint8Array>,
  maxLineBytes?: number,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const splitter = new LineSplitter(maxLineBytes);
  for await (const piece of body) {
    yield splitter
      .push(piece)
      .filter((line) => line.trim() !== '')
      .map((line) => decodeEvent<T>(line));
  }
}

/** Checks only what a mirror relies on: a type, and an object with a version. */
export function decodeEvent<T extends ApiObject>(line: string): WatchEvent<T> {
  const { type, object } = parse(line);
  if (typeof object !== 'object' || object === null) throw garbage('it has no object', line);
  if (type === 'ERROR') return { type, object };
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') {
    throw garbage('its type is unknown', line);
  }
  const { metadata } = object as ApiObject;
  if (typeof metadata?.resourceVersion !== 'string' || metadata.resourceVersion === '') {
    throw garbage('its object has no resourceVersion', line);
  }
  if (type !== 'BOOKMARK' && typeof metadata.name !== 'string') throw garbage('its object has no name', line);
  return { type, object: object as T };
}

function parse(line: string): { readonly type?: unknown; readonly object?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The parser's message would quote what may be a Secret.
  }
  throw garbage('it is not a JSON object', line);
}

function garbage(why: string, line: string): TubeletError {
  return new TubeletError('invalid', `a line of ${line.length} characters is not a watch event: ${why}`);
}
