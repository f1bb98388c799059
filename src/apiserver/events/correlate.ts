import { createHash } from 'node:crypto';
import type { ObjectReference } from '../../gen/kubernetes/types.ts';
import type { ObjectEvent } from '../../model/object-event.ts';

/** What happened, and to whom. */
export interface Happening extends ObjectEvent {
  readonly about: ObjectReference;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** How a happening is told: under which key it counts, and in which words. */
type Correlated = { readonly kind: 'spam' } | { readonly kind: 'tell'; readonly key: string; readonly message: string };

/** Of one object this much may be told at once of each type, and then one thing in five minutes. */
const spamBurst = 25;
const spamRefillMs = 300_000;
/** More different messages of one kind than this, within the time, are told as one. */
const similarLimit = 10;
const similarWindowMs = 600_000;
const memory = 4_096;
const maxRememberedLength = 256;
export const combinedPrefix = '(combined from similar events): ';

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

interface Similar {
  readonly messages: ReadonlySet<string>;
  readonly atMs: number;
}

/** Keeps events from flooding: who says too much is cut off, and what differs only in its words is counted together. */
export class EventCorrelator {
  readonly #buckets = new Map<string, Bucket>();
  readonly #similar = new Map<string, Similar>();

  correlate(event: Happening, monotonicMs: number): Correlated {
    const subject = subjectOf(event);
    const kind = [subject, event.about.fieldPath ?? '', event.type, event.reason].join('\n');
    const known = this.#similar.get(kind);
    const fresh = known === undefined || monotonicMs - known.atMs > similarWindowMs;
    const said = digestOf(event.message);
    const messages = new Set(fresh ? [] : known.messages).add(said);
    const combined = messages.size >= similarLimit;
    // At the limit it does not matter which messages there were; one more would only use memory.
    const kept = combined && !fresh ? known.messages : messages;
    remember(this.#similar, kind, { messages: kept, atMs: monotonicMs });
    if (!this.#mayTalk(`${subject}\n${event.type}`, monotonicMs)) return { kind: 'spam' };
    return combined
      ? { kind: 'tell', key: kind, message: `${combinedPrefix}${event.message}` }
      : { kind: 'tell', key: `${kind}\n${said}`, message: event.message };
  }

  #mayTalk(subject: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(subject) ?? { tokens: spamBurst, atMs: nowMs };
    const tokens = Math.min(spamBurst, bucket.tokens + (nowMs - bucket.atMs) / spamRefillMs);
    const allowed = tokens >= 1;
    remember(this.#buckets, subject, { tokens: allowed ? tokens - 1 : tokens, atMs: nowMs });
    return allowed;
  }
}

/** Thousands of messages are remembered, and what a container says in one may be long. */
function digestOf(message: string): string {
  return message.length <= maxRememberedLength ? message : createHash('sha256').update(message).digest('base64');
}

function subjectOf({ about }: Happening): string {
  return [about.kind, about.namespace, about.name, about.uid, about.apiVersion].map((part) => part ?? '').join('\n');
}

/** Puts the key last, and lets the one go that was not used for longest. */
export function remember<V>(map: Map<string, V>, key: string, value: V, limit = memory): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > limit ? map.keys().next() : undefined;
  if (oldest?.done === false) map.delete(oldest.value);
}
