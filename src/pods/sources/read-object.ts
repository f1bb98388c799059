import { decodeObject, type Problem } from '../../model/decode-object.ts';
import {
  completeConfigMap,
  completeSecret,
  type DataObjectKind,
  type StandaloneObject,
} from '../../model/standalone-object.ts';
import { validateConfigMap, validateSecret, type Fault } from '../../model/validation/index.ts';
import type { Findings, Item } from './manifest.ts';

/** The ConfigMap or Secret of an item; none if it is not valid. Values never get into the findings. */
export function readObject(
  kind: DataObjectKind,
  item: Item,
  path: string,
  findings: Findings,
): readonly StandaloneObject[] {
  const { value, lineOf } = item;
  const place = { path, line: lineOf([]) };
  if (kind === 'ConfigMap') {
    const { object, problems } = decodeObject('ConfigMap', value, lineOf);
    const complete = completeConfigMap(object);
    if (!isSound(item, problems, () => validateConfigMap(complete), findings)) return [];
    return [{ kind, ...identity(complete), ...place, object: complete }];
  }
  const { object, problems } = decodeObject('Secret', value, lineOf);
  const complete = completeSecret(object);
  // Validated with its texts where they were written, so that faults have their lines.
  const written = { ...object, metadata: complete.metadata ?? {} };
  if (!isSound(item, problems, () => validateSecret(written), findings)) return [];
  return [{ kind, ...identity(complete), ...place, object: complete }];
}

function isSound(
  { lineOf }: Item,
  problems: readonly Problem[],
  validate: () => readonly Fault[],
  { warnings, faults }: Findings,
): boolean {
  for (const { severity, line, message } of problems) {
    (severity === 'error' ? faults : warnings).push({ line, message });
  }
  if (problems.some((problem) => problem.severity === 'error')) return false;
  const found = validate();
  faults.push(...found.map(({ path, message }) => ({ line: lineOf(path), message })));
  return found.length === 0;
}

function identity({ metadata }: { readonly metadata?: { readonly name?: string; readonly namespace?: string } }): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
}
