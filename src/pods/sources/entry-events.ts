/** What a watch of a folder reports of one of its entries. */
export interface EntryEvent {
  readonly name: string;
  /** `entry`: the name was added, removed or given to another file. `content`: its file was written to. */
  readonly kind: 'entry' | 'content';
}

/** What is known of the names in the folder when events are counted. */
interface KnownNames {
  /** A manifest of that name was known before the events. */
  readonly wasKnown: (name: string) => boolean;
  /** A file of that name is there now. */
  readonly isThere: (name: string) => boolean;
}

/**
 * How often each name was added or removed, without renames over it where they can be recognised. The kernel reports an
 * entry that is removed, one that is added and one that another file replaces alike; but a rename within the folder
 * reports its old name directly before its new one, and an old name that was no manifest and is missing now was a
 * temporary file.
 */
export function countChanges(events: readonly EntryEvent[], names: KnownNames): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let before: EntryEvent | undefined;
  for (const event of events) {
    const count = counts.get(event.name) ?? 0;
    const isPresent = names.wasKnown(event.name) === (count % 2 === 0);
    const isTakeOver = isPresent && isRenameFromTemporary(before, event, names);
    if (event.kind === 'entry' && !isTakeOver) counts.set(event.name, count + 1);
    before = event;
  }
  return counts;
}

function isRenameFromTemporary(before: EntryEvent | undefined, { name }: EntryEvent, names: KnownNames): boolean {
  if (before?.kind !== 'entry' || before.name === name) return false;
  return !names.wasKnown(before.name) && !names.isThere(before.name);
}

/** What was seen of a manifest's file at the last reading. */
export interface EntryState {
  readonly identity: string;
  /** Changes of its name that belong to this file. */
  readonly changes: number;
  /** Monotonic milliseconds of the last change. */
  readonly changedAt: number;
}

/** A file may be seen before the events of its creation arrive; within this time they belong to it. */
const lateMs = 100;

/**
 * Whether a file that was there before and is there now was removed in between. One change is a rename over it; a file
 * that was deleted and made again changed its name twice.
 */
export function classifyEntry(
  previous: EntryState | undefined,
  { identity, changes, now }: { readonly identity: string; readonly changes: number; readonly now: number },
): { readonly state: EntryState; readonly wasRemoved: boolean } {
  if (previous === undefined) return { state: { identity, changes: 0, changedAt: now }, wasRemoved: false };
  const isSame = previous.identity === identity;
  const before = isSame && now - previous.changedAt <= lateMs ? previous.changes : 0;
  const total = before + changes;
  const wasRemoved = total > 1;
  const changedAt = isSame && changes === 0 ? previous.changedAt : now;
  return { state: { identity, changes: wasRemoved ? 0 : total, changedAt }, wasRemoved };
}

/** Collects what a watch reports until the next reading takes it. */
export class RecentEvents {
  #events: EntryEvent[] = [];
  #touched = new Set<string>();

  add(name: string, kind: EntryEvent['kind']): void {
    this.#touched.add(name);
    // More events than this at once are no edit of manifests; each touched file is read all the same.
    if (this.#events.length < maxEvents) this.#events.push({ name, kind });
  }

  take(): PathEvents {
    const taken = { events: this.#events, touched: this.#touched };
    this.#events = [];
    this.#touched = new Set();
    return taken;
  }
}

const maxEvents = 10_000;

export interface PathEvents {
  readonly events: readonly EntryEvent[];
  /** Entries that an event named: read again even if their times look the same. */
  readonly touched: ReadonlySet<string>;
}
