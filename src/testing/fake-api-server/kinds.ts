import { apiResources, type ApiResource } from '../../model/api-resources.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { textAt } from './json.ts';

/** A kind as the fake serves it. */
export interface FakeKind extends ApiResource {
  /** Subresources that write the status alone. */
  readonly statusWriters: readonly string[];
  /** A status that is given at creation is kept. */
  readonly keepsFirstStatus?: boolean;
  /** Counts changes of the spec. */
  readonly hasGeneration?: boolean;
  /** PUT makes what is not there. */
  readonly createsOnUpdate?: boolean;
  /** An update must say which version it means. */
  readonly needsVersion?: boolean;
  /** Answers without being stored. */
  readonly isVirtual?: boolean;
  /** The answer to a delete is the object's last state. */
  readonly tellsLastState?: boolean;
  /** What can be selected by, besides name and namespace. */
  readonly fields: Readonly<Record<string, (object: JsonMap) => string>>;
}

const at =
  (...path: readonly string[]) =>
  (object: JsonMap): string =>
    textAt(object, ...path);

const fieldsOf = (...paths: readonly string[]): FakeKind['fields'] =>
  Object.fromEntries(paths.map((path) => [path, at(...path.split('.'))]));

const traits: Readonly<Record<string, Partial<FakeKind>>> = {
  pods: {
    statusWriters: ['status'],
    hasGeneration: true,
    tellsLastState: true,
    fields: {
      ...fieldsOf('spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'),
      ...fieldsOf('status.phase', 'status.podIP', 'status.nominatedNodeName'),
    },
  },
  nodes: {
    statusWriters: ['status'],
    keepsFirstStatus: true,
    fields: { 'spec.unschedulable': (node) => textAt(node, 'spec', 'unschedulable') || 'false' },
  },
  services: { statusWriters: ['status'], tellsLastState: true, fields: fieldsOf('spec.clusterIP', 'spec.type') },
  secrets: { fields: fieldsOf('type') },
  namespaces: { statusWriters: ['status'], fields: fieldsOf('status.phase') },
  persistentvolumes: { statusWriters: ['status'] },
  persistentvolumeclaims: { statusWriters: ['status'] },
  volumeattachments: { statusWriters: ['status'] },
  certificatesigningrequests: { statusWriters: ['status', 'approval'], fields: fieldsOf('spec.signerName') },
  leases: { createsOnUpdate: true, needsVersion: true },
  events: {
    createsOnUpdate: true,
    fields: {
      ...fieldsOf('involvedObject.kind', 'involvedObject.namespace', 'involvedObject.name', 'involvedObject.uid'),
      ...fieldsOf('involvedObject.apiVersion', 'involvedObject.fieldPath', 'reason', 'type'),
    },
  },
  tokenreviews: { isVirtual: true },
  subjectaccessreviews: { isVirtual: true },
};

/** Namespaces are the server's own affair: the agent never asks for them. */
export const namespaces: ApiResource = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

const kinds: readonly FakeKind[] = [...Object.values(apiResources), namespaces].map((resource) => ({
  statusWriters: [],
  fields: {},
  ...resource,
  ...traits[resource.plural],
}));

const byPlace = new Map(kinds.map((kind) => [placeOf(kind), kind]));

function placeOf({ group, version, plural }: ApiResource): string {
  return `${group}/${version}/${plural}`;
}

export function kindOfResource(resource: ApiResource): FakeKind {
  const kind = byPlace.get(placeOf(resource));
  if (kind === undefined) throw new Error(`the fake API server does not know ${placeOf(resource)}`);
  return kind;
}

export function kindAt(group: string, version: string, plural: string): FakeKind | undefined {
  return byPlace.get(`${group}/${version}/${plural}`);
}

/** By what an object says of itself. */
export function kindOfObject({ apiVersion, kind }: { readonly apiVersion?: string; readonly kind?: string }): FakeKind {
  const found = kinds.find((entry) => {
    const own = entry.group === '' ? entry.version : `${entry.group}/${entry.version}`;
    return entry.kind === kind && own === apiVersion;
  });
  if (found === undefined) throw new Error(`the fake API server does not know ${apiVersion} ${kind}`);
  return found;
}
