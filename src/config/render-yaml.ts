import { resolvePlain } from '../base/yaml-scalar.ts';
import type { Json, JsonObject } from './print.ts';

/** The comment behind the value at a path. */
type CommentOf = (path: readonly string[]) => string;

/** An object as YAML, with a comment behind each value. A list has one comment, at its name. */
export function renderYaml(value: JsonObject, commentOf: CommentOf): string {
  return renderEntries(value, [], commentOf)
    .map((line) => `${line}\n`)
    .join('');
}

function renderEntries(value: JsonObject, path: readonly string[], commentOf: CommentOf): readonly string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const here = [...path, key];
    const name = `${'  '.repeat(path.length)}${scalar(key)}:`;
    if (isObject(item) && Object.keys(item).length > 0) return [name, ...renderEntries(item, here, commentOf)];
    const comment = ` # ${commentOf(here)}`;
    if (Array.isArray(item) && item.length > 0) {
      return [`${name}${comment}`, ...item.flatMap((element: Json) => renderItem(element, path.length))];
    }
    return [`${name} ${inline(item)}${comment}`];
  });
}

/** Items are written as JSON, which is YAML too, unless they are plain. */
function renderItem(item: Json, depth: number): readonly string[] {
  return [`${'  '.repeat(depth)}- ${inline(item)}`];
}

function inline(value: Json): string {
  return typeof value === 'string' ? scalar(value) : JSON.stringify(value);
}

/** Unquoted only where every YAML reader takes it for the same text. */
function scalar(text: string): string {
  const harmless = /^[A-Za-z0-9_/.][\w/.:%@+=-]*$/.test(text) && !text.endsWith(':');
  return harmless && resolvePlain(text) === text && !/^[\d.:]+$/.test(text) ? text : JSON.stringify(text);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
