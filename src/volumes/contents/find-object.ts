import { TubeletError } from '../../base/errors.ts';
import type { ConfigMap, Secret } from '../../gen/kubernetes/types.ts';
import type { DataObjectKind } from '../../model/standalone-object.ts';
import type { VolumeObjects } from '../ports.ts';

interface ObjectLookup {
  readonly namespace: string;
  readonly name: string;
  readonly optional: boolean;
}

export function findConfigMap(objects: VolumeObjects, wanted: ObjectLookup): ConfigMap {
  return objects.configMap(wanted.namespace, wanted.name) ?? absent(objects, 'ConfigMap', wanted);
}

export function findSecret(objects: VolumeObjects, wanted: ObjectLookup): Secret {
  return objects.secret(wanted.namespace, wanted.name) ?? absent(objects, 'Secret', wanted);
}

/** An optional object that does not exist is an empty one; one that could not be read is an error. */
function absent(
  objects: VolumeObjects,
  kind: DataObjectKind,
  { namespace, name, optional }: ObjectLookup,
): Secret & ConfigMap {
  const problem = objects.problem?.(kind, namespace, name);
  if (problem !== undefined) throw new TubeletError('unavailable', problem);
  if (optional) return {};
  throw new TubeletError('notFound', `${kind.toLowerCase()} "${name}" not found`);
}
