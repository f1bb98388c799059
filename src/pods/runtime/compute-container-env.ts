import type { Container, EnvVar } from '../../gen/kubernetes/types.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import { expandVariables } from '../../model/expansion.ts';
import { containerResourceValue, podFieldValue, type FieldValue } from '../../model/field-ref.ts';
import { isRefusal, refuse, type Refusal } from '../../model/refusal.ts';
import type { NodeFacts } from '../../model/runtime-settings.ts';
import { serviceEnvironment, type ServiceObject } from '../../model/service-environment.ts';
import type { EnvVariable } from './compute-mounts.ts';

/** Objects as the API writes them; a secret's data is base64. */
export interface DataObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Where values come from; `undefined` is an answer: there is no such object. */
export interface EnvLookup {
  configMap(namespace: string, name: string): DataObject | undefined;
  secret(namespace: string, name: string): DataObject | undefined;
  /** Why nobody can say whether there is such an object; nothing where that is known. */
  problem?(kind: 'ConfigMap' | 'Secret', namespace: string, name: string): string | undefined;
  /** `undefined` until the services have been read once. */
  services(): readonly ServiceObject[] | undefined;
}

export interface ContainerEnvInput {
  readonly pod: DesiredPod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly nodeName: string;
  readonly node: Pick<NodeFacts, 'allocatable'>;
  readonly lookup: EnvLookup;
}

/**
 * The environment of a container: whole objects first, then single variables, which may refer to earlier ones and to
 * services; services fill what is still free.
 */
export function computeContainerEnv(input: ContainerEnvInput): EnvVariable[] | Refusal {
  const services = visibleServices(input);
  if (isRefusal(services)) return services;
  const values = new Map<string, string>();
  for (const entries of input.container.envFrom ?? []) {
    const name = entries.configMapRef?.name ?? entries.secretRef?.name ?? '';
    const kind = entries.configMapRef === undefined ? 'secret' : 'configMap';
    const optional = (entries.configMapRef ?? entries.secretRef)?.optional === true;
    const data = readData(input, kind, name);
    if (data === undefined && !optional) return notFound(input, kind, name);
    for (const [key, value] of data ?? []) values.set(`${entries.prefix ?? ''}${key}`, value);
  }
  const resolve = (name: string): string | undefined => values.get(name) ?? services.get(name);
  for (const variable of input.container.env ?? []) {
    const value = variableValue(input, variable, resolve);
    if (isRefusal(value)) return value;
    if (value !== undefined) values.set(variable.name, value);
  }
  for (const [key, value] of services) if (!values.has(key)) values.set(key, value);
  return [...values].map(([key, value]) => ({ key, value }));
}

function visibleServices(input: ContainerEnvInput): ReadonlyMap<string, string> | Refusal {
  const { pod } = input;
  const links = pod.spec.enableServiceLinks;
  if (links === undefined) return refuse('nil pod.spec.enableServiceLinks encountered, cannot construct envvars');
  const services = input.lookup.services();
  if (services !== undefined) return serviceEnvironment(services, pod.namespace, links);
  // A static pod may be what makes the API server reachable; it cannot wait for it.
  if (isStatic(pod)) return new Map();
  return refuse('services have not yet been read at least once, cannot construct envvars');
}

/** The value of one variable; nothing where it is optional and absent. */
function variableValue(
  input: ContainerEnvInput,
  variable: EnvVar,
  resolve: (name: string) => string | undefined,
): string | undefined | Refusal {
  const source = variable.valueFrom;
  if (variable.value || source === undefined) return expandVariables(variable.value ?? '', resolve);
  if (source.fieldRef !== undefined) return plain(podFieldValue(input, source.fieldRef.fieldPath));
  if (source.resourceFieldRef !== undefined) {
    return plain(containerResourceValue(input.pod, input.container, source.resourceFieldRef, input.node));
  }
  if (source.configMapKeyRef !== undefined) return keyValue(input, 'configMap', source.configMapKeyRef);
  if (source.secretKeyRef !== undefined) return keyValue(input, 'secret', source.secretKeyRef);
  return refuse(`environment variable ${variable.name} has a source that is not supported`);
}

function plain(field: FieldValue): string | Refusal {
  return 'problem' in field ? refuse(field.problem) : field.value;
}

type DataKind = 'configMap' | 'secret';

function keyValue(
  input: ContainerEnvInput,
  kind: DataKind,
  reference: { readonly key: string; readonly name?: string; readonly optional?: boolean },
): string | undefined | Refusal {
  const { key, name = '', optional = false } = reference;
  const data = readData(input, kind, name);
  if (data === undefined) return optional ? undefined : notFound(input, kind, name);
  const value = data.get(key);
  if (value !== undefined || optional) return value;
  const title = kind === 'configMap' ? 'ConfigMap' : 'Secret';
  return refuse(`couldn't find key ${key} in ${title} ${input.pod.namespace}/${name}`);
}

function readData(input: ContainerEnvInput, kind: DataKind, name: string): ReadonlyMap<string, string> | undefined {
  const { lookup, pod } = input;
  if (kind === 'configMap') {
    const object = lookup.configMap(pod.namespace, name);
    return object === undefined ? undefined : new Map(Object.entries(object.data ?? {}));
  }
  const object = lookup.secret(pod.namespace, name);
  if (object === undefined) return undefined;
  const decoded = Object.entries(object.data ?? {}).map(
    ([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')] as const,
  );
  return new Map(decoded);
}

function notFound({ lookup, pod }: ContainerEnvInput, kind: DataKind, name: string): Refusal {
  const problem = lookup.problem?.(kind === 'configMap' ? 'ConfigMap' : 'Secret', pod.namespace, name);
  return refuse(problem ?? `${kind.toLowerCase()} "${name}" not found`);
}
