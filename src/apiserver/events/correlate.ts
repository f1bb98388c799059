import { createHash } from 'node:crypto';
import type { ObjectReference } from '../../gen/kubernetes/types.ts';
import type { ObjectEvent } from '../../model/object-event.ts';

/** What happened, and the object that it happened to. */
export interface ObservedEvent extends ObjectEvent {
  readonly about: ObjectReference;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** How an event is recorded: under which key it counts, and with which message. */
type Correlated =
  | { readonly kind: 'spam' }
  | { readonly kind: 'record'; readonly key: string; readonly message: string };

/** Per object and type: so many events at once, and then one in five minutes. */
const spamBurst = 25;
const spamRefillMs = 300_000;
/** More different messages of one kind than this, within the time, are recorded as one. */
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

/** Limits events: a source with too many is cut off, and events that differ only in their message are combined. */
export class EventCorrelator {
  readonly #buckets = new Map<string, Bucket>();
  readonly #similar = new Map<string, Similar>();

  correlate(event: ObservedEvent, monotonicMs: number): Correlated {
    const subject = subjectOf(event);
    const kind = [subject, event.about.fieldPath ?? '', event.type, event.reason].join('\n');
    const known = this.#similar.get(kind);
    const fresh = known === undefined || monotonicMs - known.atMs > similarWindowMs;
    const messageDigest = digestOf(event.message);
    const messages = new Set(fresh ? [] : known.messages).add(messageDigest);
    const combined = messages.size >= similarLimit;
    // At the limit it does not matter which messages there were; one more would only use memory.
    const kept = combined && !fresh ? known.messages : messages;
    remember(this.#similar, kind, { messages: kept, atMs: monotonicMs });
    if (!this.#takeToken(`${subject}\n${event.type}`, monotonicMs)) return { kind: 'spam' };
    return combined
      ? { kind: 'record', key: kind, message: `${combinedPrefix}${event.message}` }
      : { kind: 'record', key: `${kind}\n${messageDigest}`, message: event.message };
  }

  #takeToken(subject: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(subject) ?? { tokens: spamBurst, atMs: nowMs };
    const tokens = Math.min(spamBurst, bucket.tokens + (nowMs - bucket.atMs) / spamRefillMs);
    const allowed = tokens >= 1;
    remember(this.#buckets, subject, { tokens: allowed ? tokens - 1 : tokens, atMs: nowMs });
    return allowed;
  }
}

/** Thousands of messages are remembered, and a container's message may be long. */
function digestOf(message: string): string {
  return message.length <= maxRememberedLength ? message : createHash('sha256').update(message).digest('base64');
}

function subjectOf({ about }: ObservedEvent): string {
  return [about.kind, about.namespace, about.name, about.uid, about.apiVersion].map((part) => part ?? '').join('\n');
}

/** Moves the key to the end, and removes the least recently used one. */
export function remember<V>(map: Map<string, V>, key: string, value: V, limit = memory): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > limit ? map.keys().next() : undefined;
  if (oldest?.done === false) map.delete(oldest.value);
}
