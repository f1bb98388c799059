import type {
  EnvFromSource,
  EnvVar,
  ObjectFieldSelector,
  ResourceFieldSelector,
  Volume,
} from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { configKey, descendingPath, dnsSubdomain, environmentName, qualifiedName } from './names.ts';

/** Fields of the pod that an environment variable may show. */
const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Fields of the pod that a file of a downward volume may show. */
export const downwardFileFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

export function validateEnvironment(
  variables: readonly EnvVar[],
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
  faults: Faults,
): void {
  for (const [index, variable] of variables.entries()) {
    const at = [...path, index];
    if (variable.name === '') faults.required([...at, 'name']);
    else faults.check([...at, 'name'], variable.name, environmentName);
    validateValueFrom(variable, volumes, [...at, 'valueFrom'], faults);
  }
}

function validateValueFrom(
  variable: EnvVar,
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
  faults: Faults,
): void {
  const from = variable.valueFrom;
  if (from === undefined) return;
  if (from.fieldRef) validateFieldRef(from.fieldRef, environmentFields, [...path, 'fieldRef'], faults);
  if (from.resourceFieldRef) validateResourceRef(from.resourceFieldRef, false, [...path, 'resourceFieldRef'], faults);
  for (const kind of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const selector = from[kind];
    if (selector === undefined) continue;
    faults.check([...path, kind, 'name'], selector.name ?? '', dnsSubdomain);
    if (selector.key === '') faults.required([...path, kind, 'key']);
    else faults.check([...path, kind, 'key'], selector.key, configKey);
  }
  if (from.fileKeyRef) {
    const at = [...path, 'fileKeyRef'];
    const volume = volumes.get(from.fileKeyRef.volumeName);
    if (from.fileKeyRef.key === '') faults.required([...at, 'key']);
    if (from.fileKeyRef.path === '') faults.required([...at, 'path']);
    else faults.check([...at, 'path'], from.fileKeyRef.path, descendingPath);
    if (volume === undefined) faults.notFound([...at, 'volumeName'], from.fileKeyRef.volumeName);
    else if (volume.emptyDir === undefined) {
      faults.invalid([...at, 'volumeName'], volume.name, 'the volume must be of type emptyDir');
    }
  }
  const sources = Object.keys(from).length;
  if (sources === 0) faults.invalid(path, '', 'must name one source of the value');
  else if (variable.value) faults.invalid(path, '', 'may not be specified when `value` is not empty');
  else if (sources > 1) faults.invalid(path, '', 'may not have more than one field specified at a time');
}

export function validateFieldRef(
  selector: ObjectFieldSelector,
  fields: readonly string[],
  path: FieldPath,
  faults: Faults,
): void {
  if (selector.fieldPath === '') return faults.required([...path, 'fieldPath']);
  if (selector.apiVersion !== 'v1') return faults.oneOf([...path, 'apiVersion'], selector.apiVersion, ['v1']);
  const subscript = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(selector.fieldPath);
  if (subscript !== null) {
    const [, field = '', key = ''] = subscript;
    return faults.check(path, field.endsWith('annotations') ? key.toLowerCase() : key, qualifiedName);
  }
  return faults.oneOf([...path, 'fieldPath'], selector.fieldPath, fields);
}

export function validateResourceRef(
  selector: ResourceFieldSelector,
  needsContainer: boolean,
  path: FieldPath,
  faults: Faults,
): void {
  const { resource, divisor = '0' } = selector;
  const hugePages = /^(limits|requests)\.hugepages-/.test(resource);
  if (needsContainer && !selector.containerName) faults.required([...path, 'containerName']);
  else if (!hugePages) faults.oneOf([...path, 'resource'], resource, resourceFields);
  if (divisor === '0') return;
  const allowed = resource.endsWith('.cpu') ? ['1m', '1'] : byteDivisors;
  if (!allowed.includes(divisor)) faults.unsupported([...path, 'divisor'], divisor, allowed);
}

export function validateEnvironmentFrom(sources: readonly EnvFromSource[], path: FieldPath, faults: Faults): void {
  for (const [index, source] of sources.entries()) {
    const at = [...path, index];
    if (source.prefix) faults.check([...at, 'prefix'], source.prefix, environmentName);
    const kinds = (['configMapRef', 'secretRef'] as const).filter((kind) => source[kind] !== undefined);
    for (const kind of kinds) {
      const name = source[kind]?.name ?? '';
      if (name === '') faults.required([...at, kind, 'name']);
      else faults.check([...at, kind, 'name'], name, dnsSubdomain);
    }
    if (kinds.length === 0) faults.invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`');
    if (kinds.length > 1) faults.invalid(at, '', 'may not have more than one field specified at a time');
  }
}
