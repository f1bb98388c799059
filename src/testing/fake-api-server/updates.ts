import { TubeletError } from '../../base/errors.ts';
import { apiVersionOf } from '../../model/api-resources.ts';
import { isSameJson } from '../../model/strategic-merge-patch.ts';
import { applyStrategicMergePatch } from '../apply-strategic-merge-patch.ts';
import { isJsonMap, type JsonMap } from '../../model/patch-schema.ts';
import { applyJsonPatch, applyMergePatch } from './json-patch.ts';
import { mapAt, plain, textAt, without, type Stored } from './json.ts';
import type { FakeKind } from './kinds.ts';
import { badRequest, conflict, internal, invalid, modified, unsupportedMediaType } from './refusal.ts';

/** What a pod's spec may change once it is stored. */
const changeable = ['activeDeadlineSeconds', 'tolerations', 'terminationGracePeriodSeconds'];
const podRule =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** What a patch makes of an object, before anybody asks whether that may be. */
export function patched(kind: FakeKind, current: Stored, contentType: string, body: string): JsonMap {
  const patch = parsePatch(body);
  const result = applied(kind, current, contentType, patch);
  if (!isJsonMap(result)) throw badRequest('the patch makes no object of it');
  // What a patch takes away from these is not taken away.
  const kept = { uid: current.metadata.uid, resourceVersion: current.metadata.resourceVersion };
  return { ...result, metadata: { ...kept, ...mapAt(result, 'metadata') } };
}

function applied(kind: FakeKind, current: Stored, contentType: string, patch: unknown): unknown {
  switch (contentType) {
    case 'application/strategic-merge-patch+json':
      try {
        return applyStrategicMergePatch(current, patch, kind.kind);
      } catch (error) {
        if (error instanceof TubeletError) throw internal(error.message);
        throw error;
      }
    case 'application/merge-patch+json':
      return applyMergePatch(current, patch);
    case 'application/json-patch+json':
      return applyJsonPatch(current, patch);
    default:
      throw unsupportedMediaType();
  }
}

function parsePatch(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw badRequest('error decoding patch: invalid character');
  }
}

export interface UpdateRequest {
  readonly kind: FakeKind;
  readonly current: Stored;
  readonly wanted: JsonMap;
  /** Undefined for the main resource. */
  readonly subresource: string | undefined;
  /** A patch and a PUT refuse another uid in different words. */
  readonly isPatch: boolean;
}

/** The state that follows a write, or why there is none. Where nothing changes, the very object that was there. */
export function updated(request: UpdateRequest): JsonMap & { readonly metadata: JsonMap } {
  const { kind, current, wanted, subresource } = request;
  checkIdentity(request);
  const metadata = nextMetadata(request);
  const hasStatus = kind.statusWriters.length > 0;
  const head = { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata };
  if (subresource !== undefined)
    return settled(kind, current, { ...current, ...head, status: mapAt(wanted, 'status') });

  const { status } = current;
  const body = without(wanted, 'kind', 'apiVersion', 'metadata', ...(hasStatus ? ['status'] : []));
  const next = { ...head, ...body, ...(hasStatus && status !== undefined && { status }) };
  if (kind.plural === 'certificatesigningrequests') return settled(kind, current, { ...next, spec: current['spec'] });
  if (kind.plural === 'pods') checkPodSpec(kind, current, next);
  return settled(kind, current, next);
}

function checkIdentity({ kind, current, wanted, isPatch }: UpdateRequest): void {
  const { name, uid, resourceVersion } = current.metadata;
  const said = mapAt(wanted, 'metadata');
  const saidName = textAt(said, 'name');
  if (saidName !== name) {
    throw badRequest(
      saidName === ''
        ? 'name must be provided'
        : `the name of the object (${saidName}) does not match the name on the URL (${name})`,
    );
  }
  const saidVersion = textAt(said, 'resourceVersion');
  if (saidVersion === '' && kind.needsVersion === true) {
    const message = 'Invalid value: 0: must be specified for an update';
    const fault = { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message } as const;
    throw invalid(kind.plural, kind.group, name, fault);
  }
  const saidUid = textAt(said, 'uid');
  if (!isPatch && saidUid !== '' && saidUid !== uid) {
    throw conflict(kind, name, `Precondition failed: UID in precondition: ${saidUid}, UID in object meta: ${uid}`);
  }
  if (saidVersion !== '' && saidVersion !== resourceVersion) throw conflict(kind, name, modified);
  if (saidUid !== '' && saidUid !== uid) {
    const message = `Invalid value: "${saidUid}": field is immutable`;
    const fault = { field: 'metadata.uid', reason: 'FieldValueInvalid', message } as const;
    throw invalid(kind.kind, kind.group, name, fault, fault);
  }
}

/** Nobody writes what the server itself keeps. */
function nextMetadata({ kind, current, wanted, subresource }: UpdateRequest): JsonMap {
  const { metadata } = current;
  const keeps = ['name', 'namespace', 'uid', 'creationTimestamp', 'generation'];
  const kept = [...keeps, 'generateName', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'resourceVersion'];
  if (subresource !== undefined && kind.plural === 'pods') kept.push('ownerReferences');
  const own = without(mapAt(wanted, 'metadata'), ...kept, 'managedFields', 'selfLink');
  return {
    ...Object.fromEntries(kept.flatMap((field) => (field in metadata ? [[field, metadata[field]]] : []))),
    ...own,
  };
}

function checkPodSpec(kind: FakeKind, current: Stored, next: JsonMap): void {
  if (isSameJson(fixedPart(current), fixedPart(next))) return;
  throw invalid(kind.kind, kind.group, current.metadata.name, {
    field: 'spec',
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${podRule}`,
  });
}

function fixedPart(pod: JsonMap): JsonMap {
  const spec = mapAt(pod, 'spec');
  const withoutImages = (list: unknown): unknown =>
    Array.isArray(list) ? list.map((entry) => (isJsonMap(entry) ? without(entry, 'image') : entry)) : list;
  return {
    ...without(spec, ...changeable),
    containers: withoutImages(spec['containers']),
    initContainers: withoutImages(spec['initContainers']),
  };
}

function settled(
  kind: FakeKind,
  current: Stored,
  next: JsonMap & { readonly metadata: JsonMap },
): JsonMap & { readonly metadata: JsonMap } {
  const clean = plain(next);
  if (isSameJson(current, clean)) return current;
  if (kind.hasGeneration !== true || isSameJson(current['spec'], clean['spec'])) return clean;
  return { ...clean, metadata: { ...clean.metadata, generation: (current.metadata.generation ?? 0) + 1 } };
}
