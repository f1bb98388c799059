import { isSameJson } from '../../model/strategic-merge-patch.ts';
import { isJsonMap, type JsonMap } from '../../model/patch-schema.ts';
import { plain } from './json.ts';
import { badRequest, unprocessable } from './refusal.ts';

/** RFC 7386: null takes away, objects merge, everything else replaces. */
export function applyMergePatch(value: unknown, patch: unknown): unknown {
  if (!isJsonMap(patch)) return patch;
  const result: Record<string, unknown> = isJsonMap(value) ? { ...value } : {};
  for (const [field, part] of Object.entries(patch)) {
    if (part === null) delete result[field];
    else result[field] = applyMergePatch(result[field], part);
  }
  return result;
}

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

/** RFC 6902. What cannot be done is refused without saying which step it was, as the API server does. */
export function applyJsonPatch(value: JsonMap, patch: unknown): JsonMap {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: it is no list of operations');
  const root: { document: unknown } = { document: plain(value) };
  for (const operation of patch as readonly Operation[]) applyOperation(root, operation);
  if (!isJsonMap(root.document)) throw unprocessable();
  return root.document;
}

function applyOperation(root: object, { op, path, from, value }: Operation): void {
  const target = placeOf(root, path);
  switch (op) {
    case 'add':
      insert(target, plain(value));
      break;
    case 'remove':
      take(target);
      break;
    case 'replace':
      take(target);
      insert(target, plain(value));
      break;
    case 'move':
      insert(target, take(placeOf(root, from)));
      break;
    case 'copy':
      insert(target, plain(look(placeOf(root, from))));
      break;
    case 'test':
      if (!isSameJson(look(target), value)) throw unprocessable();
      break;
    default:
      throw unprocessable();
  }
}

interface PatchPlace {
  readonly holder: unknown[] | Record<string, unknown>;
  readonly step: string;
}

function placeOf(root: object, path: unknown): PatchPlace {
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/'))) throw unprocessable();
  const steps = path.split('/').slice(1);
  const names = ['document', ...steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))];
  let holder: unknown = root;
  for (const name of names.slice(0, -1)) holder = isHolder(holder) ? look({ holder, step: name }) : undefined;
  if (!isHolder(holder)) throw unprocessable();
  return { holder, step: names.at(-1) ?? '' };
}

const isHolder = (value: unknown): value is PatchPlace['holder'] => typeof value === 'object' && value !== null;

function indexOf(list: readonly unknown[], step: string, most: number): number {
  const index = step === '-' ? list.length : Number(step);
  if (!Number.isInteger(index) || index < 0 || index > most) throw unprocessable();
  return index;
}

function look({ holder, step }: PatchPlace): unknown {
  const value = Array.isArray(holder) ? holder[indexOf(holder, step, holder.length - 1)] : holder[step];
  if (value === undefined) throw unprocessable();
  return value;
}

function insert({ holder, step }: PatchPlace, value: unknown): void {
  if (Array.isArray(holder)) holder.splice(indexOf(holder, step, holder.length), 0, value);
  else holder[step] = value;
}

function take(place: PatchPlace): unknown {
  const value = look(place);
  if (Array.isArray(place.holder)) place.holder.splice(Number(place.step), 1);
  else delete place.holder[place.step];
  return value;
}
