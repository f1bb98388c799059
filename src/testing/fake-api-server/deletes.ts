import { apiTime } from '../../model/api-time.ts';
import { isJsonMap, type JsonMap } from '../../model/patch-schema.ts';
import { mapAt, textAt, type Stored } from './json.ts';
import type { FakeKind } from './kinds.ts';
import { internal, preconditionFailed } from './refusal.ts';

interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/**
 * What a delete does.
 *
 *   there ──mark──> ends at deletionTimestamp ──mark (shorter)──> … ──grace 0, no finalizers──> gone
 *     └──remove: no grace, no finalizers──────────────────────────────────────────────────────────^
 */
type DeleteDecision =
  | { readonly kind: 'keep' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'mark'; readonly metadata: JsonMap; readonly thenRemove: boolean };

export function parseDelete(body: string, query: URLSearchParams): DeleteOptions {
  const options = body.trim() === '' ? {} : parseOptions(body);
  const grace = query.get('gracePeriodSeconds') ?? textAt(options, 'gracePeriodSeconds');
  const preconditions = mapAt(options, 'preconditions');
  return {
    gracePeriodSeconds: grace === '' ? undefined : Number(grace),
    uid: textAt(preconditions, 'uid') || undefined,
    resourceVersion: textAt(preconditions, 'resourceVersion') || undefined,
  };
}

function parseOptions(body: string): JsonMap {
  try {
    const value: unknown = JSON.parse(body);
    if (isJsonMap(value)) return value;
  } catch {
    // Told below, as a server error: that is what the API server makes of it.
  }
  throw internal("couldn't get version/kind; json parse error");
}

export function checkPreconditions(kind: FakeKind, current: Stored, { uid, resourceVersion }: DeleteOptions): void {
  const { metadata } = current;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid})`;
    throw preconditionFailed(kind, metadata.name, `${why}. The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const record = `the ResourceVersion in record (${metadata.resourceVersion})`;
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match ${record}`;
    throw preconditionFailed(kind, metadata.name, `${why}. The object might have been modified`);
  }
}

export function decideDelete(
  kind: FakeKind,
  current: Stored,
  { gracePeriodSeconds }: DeleteOptions,
  nowMs: number,
): DeleteDecision {
  const { metadata } = current;
  const isHeld = (metadata.finalizers ?? []).length > 0;
  if (metadata.deletionTimestamp !== undefined) return shorten(current, metadata.deletionTimestamp, gracePeriodSeconds);
  if (kind.plural !== 'pods' && !isHeld) return { kind: 'remove' };

  const seconds = kind.plural === 'pods' ? podGrace(current, gracePeriodSeconds) : 0;
  const marked = {
    ...metadata,
    deletionTimestamp: apiTime(nowMs + seconds * 1_000),
    deletionGracePeriodSeconds: seconds,
    ...(metadata.generation !== undefined && { generation: metadata.generation + 1 }),
  };
  return { kind: 'mark', metadata: marked, thenRemove: seconds === 0 && !isHeld };
}

/** Grace that runs can only become less, counted from its beginning. */
function shorten({ metadata }: Stored, endsAt: string, seconds: number | undefined): DeleteDecision {
  const { deletionGracePeriodSeconds: present = 0, finalizers = [] } = metadata;
  if (seconds === undefined || seconds >= present) return { kind: 'keep' };
  const deletionTimestamp = apiTime(Date.parse(endsAt) + (seconds - present) * 1_000);
  const marked = { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: seconds };
  return { kind: 'mark', metadata: marked, thenRemove: seconds === 0 && finalizers.length === 0 };
}

/** Nobody has to stop a pod that runs nowhere. */
function podGrace(pod: Stored, asked: number | undefined): number {
  if (textAt(pod, 'spec', 'nodeName') === '') return 0;
  if (['Failed', 'Succeeded'].includes(textAt(pod, 'status', 'phase'))) return 0;
  const seconds = asked ?? Number(textAt(pod, 'spec', 'terminationGracePeriodSeconds') || 30);
  return seconds < 0 ? 1 : seconds;
}

/** Whether a write takes away the last thing that held an object. */
export function isReleased({ metadata }: { readonly metadata: JsonMap }): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0, finalizers } = metadata;
  return deletionTimestamp !== undefined && grace === 0 && !(Array.isArray(finalizers) && finalizers.length > 0);
}
