import { isUtf8 } from 'node:buffer';
import type { Container, EnvVar } from '../../gen/kubernetes/types.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import { expandVariables, TextBudget } from '../../model/expansion.ts';
import { containerResourceValue, podFieldValue, type FieldValue } from '../../model/field-ref.ts';
import { isRefusal, refuse, type Refusal } from '../../model/refusal.ts';
import type { NodeFacts } from '../../model/runtime-settings.ts';
import { serviceEnvironment, type ServiceObject } from '../../model/service-environment.ts';
import type { EnvVariable } from './compute-mounts.ts';

/** Objects as the API writes them; a secret's data is base64. */
interface DataObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Where values come from; `undefined` is an answer: there is no such object. */
export interface EnvLookup {
  configMap(namespace: string, name: string): DataObject | undefined;
  secret(namespace: string, name: string): DataObject | undefined;
  /** Why it is not known whether there is such an object; nothing where that is known. */
  problem?(kind: 'ConfigMap' | 'Secret', namespace: string, name: string): string | undefined;
  /** `undefined` until the services have been read once. */
  services(): readonly ServiceObject[] | undefined;
}

interface ContainerEnvInput {
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
 * services; services fill what is still free. What grows beyond all that a process can get is refused while it grows.
 * Values are bytes, since those of Secrets need not be text: on the way each is a string with one letter per byte.
 */
export function computeContainerEnv(input: ContainerEnvInput): EnvVariable[] | Refusal {
  const services = visibleServices(input);
  if (isRefusal(services)) return services;
  const values = new Map<string, string>();
  const budget = new TextBudget();
  for (const entries of input.container.envFrom ?? []) {
    const name = entries.configMapRef?.name ?? entries.secretRef?.name ?? '';
    const kind = entries.configMapRef === undefined ? 'secret' : 'configMap';
    const optional = (entries.configMapRef ?? entries.secretRef)?.optional === true;
    const data = readData(input, kind, name);
    const missing = data === undefined ? missingRefusal(input, kind, name, optional) : undefined;
    if (missing !== undefined) return missing;
    for (const key of data?.keys ?? []) {
      const variable = `${entries.prefix ?? ''}${key}`;
      const value = data?.get(key) ?? '';
      if (!budget.take(variable.length + value.length)) return refuse(budget.message);
      values.set(variable, value);
    }
  }
  const resolve = (name: string): string | undefined => values.get(name) ?? services.get(name);
  for (const variable of input.container.env ?? []) {
    const value = variableValue(input, variable, resolve, budget);
    if (isRefusal(value)) return value;
    if (!budget.take(variable.name.length)) return refuse(budget.message);
    if (value !== undefined) values.set(variable.name, value);
  }
  for (const [key, value] of services) {
    if (values.has(key)) continue;
    if (!budget.take(key.length + value.length)) return refuse(budget.message);
    values.set(key, value);
  }
  return [...values].map(([key, value]) => fromBytes(key, Buffer.from(value, 'latin1')));
}

function fromBytes(key: string, bytes: Buffer): EnvVariable {
  const value = bytes.toString('utf8');
  return isUtf8(bytes) ? { key, value } : { key, value, raw: bytes };
}

/** One letter per byte. */
const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function visibleServices(input: ContainerEnvInput): ReadonlyMap<string, string> | Refusal {
  const { pod } = input;
  const links = pod.spec.enableServiceLinks;
  if (links === undefined) return refuse('nil pod.spec.enableServiceLinks encountered, cannot construct envvars');
  const services = input.lookup.services();
  if (services !== undefined) return serviceEnvironment(services, pod.namespace, links);
  // The API server may depend on a static pod, so a static pod starts without waiting for services.
  if (isStatic(pod)) return new Map();
  return refuse('services have not yet been read at least once, cannot construct envvars');
}

/** The value of one variable; nothing where it is optional and absent. */
function variableValue(
  input: ContainerEnvInput,
  variable: EnvVar,
  resolve: (name: string) => string | undefined,
  budget: TextBudget,
): string | undefined | Refusal {
  const source = variable.valueFrom;
  if (variable.value || source === undefined) {
    const expanded = expandVariables(toBytes(variable.value ?? ''), resolve, budget);
    return budget.exceeded ? refuse(budget.message) : expanded;
  }
  const value = valueFrom(input, variable.name, source);
  if (typeof value === 'string') budget.take(value.length);
  return value;
}

function valueFrom(
  input: ContainerEnvInput,
  name: string,
  source: NonNullable<EnvVar['valueFrom']>,
): string | undefined | Refusal {
  if (source.fieldRef !== undefined) return plain(podFieldValue(input, source.fieldRef.fieldPath));
  if (source.resourceFieldRef !== undefined) {
    return plain(containerResourceValue(input.pod, input.container, source.resourceFieldRef, input.node));
  }
  if (source.configMapKeyRef !== undefined) return keyValue(input, 'configMap', source.configMapKeyRef);
  if (source.secretKeyRef !== undefined) return keyValue(input, 'secret', source.secretKeyRef);
  return refuse(`environment variable ${name} has a source that is not supported`);
}

function plain(field: FieldValue): string | Refusal {
  return 'problem' in field ? refuse(field.problem) : toBytes(field.value);
}

type DataKind = 'configMap' | 'secret';

function keyValue(
  input: ContainerEnvInput,
  kind: DataKind,
  reference: { readonly key: string; readonly name?: string; readonly optional?: boolean },
): string | undefined | Refusal {
  const { key, name = '', optional = false } = reference;
  const data = readData(input, kind, name);
  if (data === undefined) return missingRefusal(input, kind, name, optional);
  const value = data.get(key);
  if (value !== undefined || optional) return value;
  const title = kind === 'configMap' ? 'ConfigMap' : 'Secret';
  return refuse(`couldn't find key ${key} in ${title} ${input.pod.namespace}/${name}`);
}

/** The values of one object, one letter per byte. They are decoded when they are read: a variable takes one of them. */
interface Data {
  readonly keys: readonly string[];
  get(key: string): string | undefined;
}

function readData({ lookup, pod }: ContainerEnvInput, kind: DataKind, name: string): Data | undefined {
  const object = kind === 'configMap' ? lookup.configMap(pod.namespace, name) : lookup.secret(pod.namespace, name);
  if (object === undefined) return undefined;
  const { data = {} } = object;
  return {
    get keys() {
      return Object.keys(data);
    },
    get(key) {
      const value = Object.hasOwn(data, key) ? data[key] : undefined;
      if (value === undefined) return undefined;
      return kind === 'configMap' ? toBytes(value) : Buffer.from(value, 'base64').toString('latin1');
    },
  };
}

/** An optional object may be missing, but only where the lookup knows that it is. */
function missingRefusal(
  { lookup, pod }: ContainerEnvInput,
  kind: DataKind,
  name: string,
  optional: boolean,
): Refusal | undefined {
  const problem = lookup.problem?.(kind === 'configMap' ? 'ConfigMap' : 'Secret', pod.namespace, name);
  if (problem !== undefined) return refuse(problem);
  return optional ? undefined : refuse(`${kind.toLowerCase()} "${name}" not found`);
}
