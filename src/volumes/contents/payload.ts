import { TubeletError } from '../../base/errors.ts';
import type { ConfigMap, KeyToPath, Secret } from '../../gen/kubernetes/types.ts';

/** One file of a volume, to be written. */
export interface PayloadFile {
  readonly content: Uint8Array;
  readonly mode: number;
  readonly uid?: number;
}

/** Path from the volume's folder → file. */
export type Payload = ReadonlyMap<string, PayloadFile>;

/** How the keys of an object become files. */
export interface KeyMapping {
  /** Unset or empty: every key under its own name. */
  readonly items?: readonly KeyToPath[];
  readonly defaultMode: number;
  readonly optional: boolean;
}

export function configMapPayload(object: ConfigMap, mapping: KeyMapping): Payload {
  const texts = Object.entries(object.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'utf8')] as const);
  const values = new Map<string, Uint8Array>([...bytesOf(object.binaryData), ...texts]);
  return mapped(values, mapping, (key) => `configmap references non-existent config key: ${key}`);
}

export function secretPayload(object: Secret, mapping: KeyMapping): Payload {
  return mapped(new Map(bytesOf(object.data)), mapping, (key) => `references non-existent secret key: ${key}`);
}

function bytesOf(data: Readonly<Record<string, string>> = {}): readonly (readonly [string, Uint8Array])[] {
  return Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const);
}

function mapped(
  values: ReadonlyMap<string, Uint8Array>,
  { items = [], defaultMode, optional }: KeyMapping,
  complain: (key: string) => string,
): Payload {
  if (items.length === 0) {
    return new Map([...values].map(([key, content]) => [key, { content, mode: defaultMode }]));
  }
  const files = new Map<string, PayloadFile>();
  for (const { key, path, mode = defaultMode } of items) {
    const content = values.get(key);
    if (content !== undefined) files.set(path, { content, mode });
    else if (!optional) throw new TubeletError('notFound', complain(key));
  }
  return files;
}

const maxPathBytes = 4_096;
const maxNameBytes = 255;

/** Why a path must not be written below a volume; undefined when it may. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'invalid path: must not be empty';
  if (path.startsWith('/')) return `invalid path: must be relative path: ${path}`;
  if (Buffer.byteLength(path) > maxPathBytes)
    return `invalid path: must be less than or equal to ${maxPathBytes} bytes`;
  // Names like these are the writer's own.
  if (path.startsWith('..')) return `invalid path: must not start with '..': ${path}`;
  if (path.includes('\0')) return 'invalid path: must not contain a zero byte';
  for (const name of path.split('/')) {
    if (name === '..') return `invalid path: must not contain '..': ${path}`;
    if (name === '' || name === '.') return `invalid path: must be written in its shortest form: ${path}`;
    if (Buffer.byteLength(name) > maxNameBytes)
      return `invalid path: a name in it is longer than ${maxNameBytes} bytes`;
  }
  return undefined;
}

/** A path cannot be a file and a folder at once. Returns such a path. */
export function conflictIn(paths: Iterable<string>): string | undefined {
  const all = new Set(paths);
  for (const path of all) {
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      const above = path.slice(0, cut);
      if (all.has(above)) return above;
    }
  }
  return undefined;
}
