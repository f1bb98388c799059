import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Pod, PodSpec } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { apiVersionOf } from '../../model/api-resources.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { defaultPod } from '../../model/pod-defaults.ts';
import { computeQos } from '../../model/qos.ts';
import { mapAt, plain, textAt, without, type Meta } from './json.ts';
import type { FakeKind } from './kinds.ts';
import { badRequest, internal, invalid } from './refusal.ts';

/** Who sends a request. */
export interface FakeUser {
  readonly name: string;
  readonly groups: readonly string[];
}

interface MakerDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
  /** What a test calls a new object; a uid at random where it does not say. */
  readonly uidOf?: ((object: JsonMap) => string | undefined) | undefined;
}

interface NewObject extends JsonMap {
  readonly metadata: JsonMap & Pick<Meta, 'name' | 'uid'>;
}

const nameRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const goodName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Checks that a body is an object of the kind and stands where the request says. */
export function parseObject(kind: FakeKind, namespace: string | undefined, body: string): JsonMap {
  const object = parseJson(body, `the object provided is unrecognized (must be of type ${kind.kind})`);
  const said = textAt(object, 'kind') || kind.kind;
  if (said !== kind.kind) {
    const version = textAt(object, 'apiVersion') || apiVersionOf(kind);
    throw badRequest(`${said} in version "${version}" cannot be handled as a ${kind.kind}`);
  }
  const own = textAt(object, 'metadata', 'namespace');
  if (own !== '' && own !== (namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return object;
}

export function parseJson(body: string, what: string): JsonMap {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonMap;
  } catch {
    // Said below: what it was is the client's affair.
  }
  throw badRequest(`${what}: couldn't get version/kind; json parse error`);
}

/** An object as it is stored first: named, stamped and filled in. */
export function newObject(
  { clock, random, uidOf }: MakerDeps,
  kind: FakeKind,
  namespace: string | undefined,
  object: JsonMap,
  user: FakeUser,
): NewObject {
  const given = without(mapAt(object, 'metadata'), 'managedFields', 'selfLink', 'generation');
  if (textAt(object, 'metadata', 'resourceVersion') !== '') {
    throw internal('resourceVersion should not be set on objects to be created');
  }
  const metadata = {
    ...given,
    name: nameFor(kind, given, random),
    ...(kind.namespaced && { namespace }),
    uid: uidOf?.(object) ?? newUid(random),
    ...(kind.hasGeneration && { generation: 1 }),
    creationTimestamp: apiTime(clock.now()),
  };
  const whole = { ...object, kind: kind.kind, apiVersion: apiVersionOf(kind), metadata };
  return plain(filledIn(kind, whole, user)) as NewObject;
}

function nameFor(kind: FakeKind, metadata: JsonMap, random: Random): string {
  const name = textAt(metadata, 'name');
  const prefix = textAt(metadata, 'generateName');
  if (name === '' && prefix !== '') return prefix + suffix(random);
  if (name === '') {
    const message = 'Required value: name or generateName is required';
    throw invalid(kind.kind, kind.group, '', { field: 'metadata.name', reason: 'FieldValueRequired', message });
  }
  if (!goodName.test(name) || name.length > 253) {
    const message = `Invalid value: "${name}": ${nameRule}`;
    throw invalid(kind.kind, kind.group, name, { field: 'metadata.name', reason: 'FieldValueInvalid', message });
  }
  return name;
}

function suffix(random: Random): string {
  return Array.from({ length: 5 }, () => suffixLetters[Math.floor(random.next() * suffixLetters.length)]).join('');
}

function newUid(random: Random): string {
  const hex = random.hex(16);
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}

/** What the API server adds to a new object of a kind, as far as the agent sees it. */
function filledIn(kind: FakeKind, object: JsonMap, user: FakeUser): JsonMap {
  const bare = kind.statusWriters.length > 0 && kind.keepsFirstStatus !== true ? without(object, 'status') : object;
  switch (kind.plural) {
    case 'pods':
      return newPod(bare);
    case 'nodes':
      return { ...bare, spec: mapAt(bare, 'spec'), status: mapAt(bare, 'status') };
    case 'namespaces':
      return { ...bare, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    case 'secrets':
      return { ...bare, type: textAt(bare, 'type') || 'Opaque' };
    case 'certificatesigningrequests':
      return { ...bare, spec: { ...mapAt(bare, 'spec'), username: user.name, groups: user.groups }, status: {} };
    default:
      return bare;
  }
}

function newPod(pod: Pod): JsonMap {
  const isMirror = pod.metadata?.annotations?.[mirrorAnnotation] !== undefined;
  const { spec = { containers: [] } } = defaultPod(pod);
  const account = spec.serviceAccountName || 'default';
  const filled: PodSpec = {
    ...spec,
    ...(!isMirror && { serviceAccountName: account, serviceAccount: account }),
    priority: spec.priority ?? 0,
    preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority',
  };
  return { ...pod, spec: filled, status: { phase: 'Pending', qosClass: computeQos(filled) } };
}
