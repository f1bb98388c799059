import { isDeepStrictEqual } from 'node:util';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import { objectKey, type DataObjectReference, type StandaloneObject } from '../model/standalone-object.ts';

export type KnownObjects = ReadonlyMap<string, StandaloneObject>;

/** A manifest that is ignored, and why. */
export interface ObjectProblem {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

interface ComputedObjects {
  readonly objects: KnownObjects;
  /** What pods may see differently from now on: new, removed, or with other values. */
  readonly changed: readonly DataObjectReference[];
  readonly problems: readonly ObjectProblem[];
}

/**
 * The objects of the folder's complete set of manifests. Of two with the same name the first one counts; an immutable one
 * stays as it is until its manifest is removed from the folder.
 */
export function computeObjects(known: KnownObjects, manifests: readonly StandaloneObject[]): ComputedObjects {
  const objects = new Map<string, StandaloneObject>();
  const standsAt = new Map<string, StandaloneObject>();
  const problems: ObjectProblem[] = [];
  for (const next of manifests) {
    const key = objectKey(next);
    const { path, line } = next;
    const first = standsAt.get(key);
    if (first !== undefined) {
      problems.push({ path, line, message: `${key} stands already at ${first.path}:${first.line}; that one counts` });
      continue;
    }
    standsAt.set(key, next);
    const before = known.get(key);
    const field = before === undefined ? undefined : immutableChange(before.object, next.object);
    if (before === undefined || field === undefined) objects.set(key, next);
    else {
      objects.set(key, before);
      const remedy = 'take it out of the folder and put it in again to replace it';
      const rule = `${field}: Forbidden: field is immutable when \`immutable\` is set`;
      problems.push({ path, line, message: `${key}: ${rule}; ${remedy}` });
    }
  }
  return { objects, changed: changesBetween(known, objects), problems };
}

/** The immutable field that was changed, if any. */
function immutableChange(before: ConfigMap & Secret, after: ConfigMap & Secret): string | undefined {
  if (before.immutable !== true) return undefined;
  if (after.immutable !== true) return 'immutable';
  const fields = ['data', 'binaryData'] as const;
  return fields.find((field) => !isDeepStrictEqual(before[field] ?? {}, after[field] ?? {}));
}

function changesBetween(before: KnownObjects, after: KnownObjects): readonly DataObjectReference[] {
  const removed = [...before].filter(([key]) => !after.has(key)).map(([, object]) => object);
  const others = [...after].filter(([key, object]) => !sameValues(before.get(key), object)).map(([, object]) => object);
  return [...removed, ...others].map(({ kind, namespace, name }) => ({ kind, namespace, name }));
}

/** Pods do not see labels and other metadata. */
function sameValues(before: StandaloneObject | undefined, after: StandaloneObject): boolean {
  if (before === undefined) return false;
  return before === after || isDeepStrictEqual(valuesOf(before.object), valuesOf(after.object));
}

function valuesOf({ data = {}, binaryData = {}, type }: ConfigMap & Secret): unknown {
  return { data, binaryData, type };
}
