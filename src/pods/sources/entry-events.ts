/** What a watch of a folder reports of one of its entries. */
export interface EntryEvent {
  readonly name: string;
  /** `entry`: the name came, went or was taken over by another file. `content`: its file was written to. */
  readonly kind: 'entry' | 'content';
}

/** What is known of the names in the folder when events are judged. */
interface KnownNames {
  /** A manifest of that name was known before the events. */
  readonly wasKnown: (name: string) => boolean;
  /** A file of that name is there now. */
  readonly isThere: (name: string) => boolean;
}

/**
 * How often each name came or went, renames over it left out where they show. The kernel reports an entry that goes, one
 * that comes and one that another file takes over alike; but a rename within the folder reports its old name directly
 * before its new one, and an old name that was no manifest and is gone was a temporary file.
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

/** What was seen of a manifest's file at the last look. */
export interface EntryState {
  readonly identity: string;
  /** Changes of its name that belong to this file. */
  readonly changes: number;
  /** Monotonic milliseconds of the last change. */
  readonly changedAt: number;
}

/** A file may be seen before the events of its coming, which are on their way by then. */
const lateMs = 100;

/**
 * Whether a name that was there before and is there now was gone in between. One change is a rename over it; a file that
 * was deleted and made again changed its name twice.
 */
export function judgeEntry(
  previous: EntryState | undefined,
  { identity, changes, now }: { readonly identity: string; readonly changes: number; readonly now: number },
): { readonly state: EntryState; readonly wasGone: boolean } {
  if (previous === undefined) return { state: { identity, changes: 0, changedAt: now }, wasGone: false };
  const isSame = previous.identity === identity;
  const before = isSame && now - previous.changedAt <= lateMs ? previous.changes : 0;
  const total = before + changes;
  const wasGone = total > 1;
  const changedAt = isSame && changes === 0 ? previous.changedAt : now;
  return { state: { identity, changes: wasGone ? 0 : total, changedAt }, wasGone };
}

/** Collects what a watch reports until the next look takes it. */
export class RecentEvents {
  #events: EntryEvent[] = [];
  #touched = new Set<string>();

  add(name: string, kind: EntryEvent['kind']): void {
    this.#touched.add(name);
    // More than this in one moment is no edit of manifests; each touched file is read all the same.
    if (this.#events.length < maxEvents) this.#events.push({ name, kind });
  }

  take(): LookEvents {
    const taken = { events: this.#events, touched: this.#touched };
    this.#events = [];
    this.#touched = new Set();
    return taken;
  }
}

const maxEvents = 10_000;

export interface LookEvents {
  readonly events: readonly EntryEvent[];
  /** Entries that an event named: read again even if their times look the same. */
  readonly touched: ReadonlySet<string>;
}
