import type { Clock } from '../../base/clock.ts';
import { apiVersionOf } from '../../model/api-resources.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { textAt, without } from './json.ts';
import { badRequest, expired, internal, invalid, methodNotAllowed, tooNew } from './refusal.ts';
import type { Call } from './route.ts';
import { hasSelector, selectorOf } from './selectors.ts';
import type { ObjectStore } from './store.ts';

/** How long a list waits for a version that is not there yet. */
const tooNewMs = 3_000;

interface Page {
  readonly version: number;
  /** The key of the last page's last object; '' from the beginning. */
  readonly after: string;
  readonly limit: number | undefined;
}

/** A list, or a page of one. */
export async function listObjects(
  call: Call,
  store: ObjectStore,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<JsonMap> {
  const { kind, namespace, query } = call;
  if (kind.isVirtual === true) throw methodNotAllowed();
  const selects = selectorOf(kind, namespace, query);
  const page = await pageOf(query, store, clock, signal);
  const rest = store.all(kind, page.version).filter(([key, object]) => key > page.after && selects(object));
  const shown = rest.slice(0, page.limit);
  const left = rest.length - shown.length;
  const last = shown.at(-1)?.[0] ?? '';
  const more = left === 0 ? {} : { continue: tokenOf(page.version, last) };
  return {
    kind: `${kind.kind}List`,
    apiVersion: apiVersionOf(kind),
    metadata: {
      resourceVersion: String(page.version),
      ...more,
      // Who selects would have to be told a number that nobody has counted.
      ...(left > 0 && !hasSelector(query) && { remainingItemCount: left }),
    },
    items: shown.map(([, object]) => without(object, 'kind', 'apiVersion')),
  };
}

async function pageOf(
  query: URLSearchParams,
  store: ObjectStore,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<Page> {
  const text = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const token = query.get('continue') ?? '';
  const limit = Number(query.get('limit') ?? 0) || undefined;
  checkMatch(match, text);
  if (token !== '') {
    if (text !== '' && text !== '0') throw badRequest('specifying resource version is not allowed when using continue');
    return { ...continued(token, store), limit };
  }
  const wanted = parseVersion(text, (words) => badRequest(`invalid resource version: ${words}`));
  if (text === '') return { version: store.version, after: '', limit };
  // Any version will do: such a list comes from memory, all at once.
  if (wanted === 0) return { version: store.version, after: '', limit: undefined };
  if (match === 'Exact' || (match === '' && limit !== undefined)) {
    if (wanted > store.version) throw tooNew(wanted, store.version);
    if (wanted < store.oldest) throw expired('The resourceVersion for the provided list is too old.');
    return { version: wanted, after: '', limit };
  }
  await reached(wanted, store, clock, signal);
  return { version: store.version, after: '', limit };
}

function checkMatch(match: string, version: string): void {
  const field = 'resourceVersionMatch';
  if (!['', 'Exact', 'NotOlderThan'].includes(match)) {
    const message = `Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`;
    throw invalid('ListOptions', 'meta.k8s.io', '', { field, reason: 'FieldValueNotSupported', message });
  }
  if (match !== '' && version === '') {
    const message = 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided';
    throw invalid('ListOptions', 'meta.k8s.io', '', { field, reason: 'FieldValueForbidden', message });
  }
}

/** '' is 0. A list and a watch refuse what is no number in different ways. */
export function parseVersion(text: string, refuse: (words: string) => Error = internal): number {
  if (/^\d*$/.test(text)) return Number(text);
  const why = `strconv.ParseUint: parsing "${text}": invalid syntax`;
  throw refuse(`resourceVersion: Invalid value: "${text}": ${why}`);
}

async function reached(
  version: number,
  store: ObjectStore,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<void> {
  if (version <= store.version) return;
  const ends: (() => void)[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      ends.push(store.listen((change) => version <= change.version && resolve()));
      ends.push(clock.after(tooNewMs, () => reject(tooNew(version, store.version, 1))));
      const onAbort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      ends.push(() => signal.removeEventListener('abort', onAbort));
    });
  } finally {
    for (const end of ends) end();
  }
}

const tooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';

function continued(token: string, store: ObjectStore): { readonly version: number; readonly after: string } {
  const { version, after } = parseToken(token);
  // Such a token was given with a refusal: the rest of the list, as it is now.
  if (version === -1) return { version: store.version, after };
  if (version > store.version) throw tooNew(version, store.version);
  if (version < store.oldest) throw expired(tooOld, tokenOf(-1, after));
  return { version, after };
}

function tokenOf(version: number, after: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start: `${after}\u0000` })).toString(
    'base64url',
  );
}

function parseToken(token: string): { readonly version: number; readonly after: string } {
  try {
    const value = JSON.parse(Buffer.from(token, 'base64url').toString()) as JsonMap;
    const version = Number(textAt(value, 'rv'));
    if (Number.isInteger(version)) return { version, after: textAt(value, 'start').replace(/\0$/, '') };
  } catch {
    // Told below.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}
