import type { PodEvent } from '../../src/model/object-event.ts';
import type { GoldenEvent, GoldenRecord } from '../../src/testing/golden.ts';
import { diffLists } from './diff.ts';

/** Type, reason, message and place of events, in the order of their first time; how often does not count. */
export function compareEvents(record: GoldenRecord, events: readonly PodEvent[]): string[] {
  const { missing, extra } = diffLists(firstTimes(record.events), firstTimes(events));
  return [...missing.map((event) => `event missing: ${event}`), ...extra.map((event) => `event extra: ${event}`)];
}

function firstTimes(events: readonly (GoldenEvent | PodEvent)[]): string[] {
  const texts = events.map(({ type, reason, message, fieldPath }) =>
    [type, reason, message, fieldPath === undefined ? '' : `(${fieldPath})`].join(' ').trim(),
  );
  const isEnd = (text: string): boolean => text.startsWith('Normal Killing Stopping container');
  const each = [...new Set(texts)];
  // Containers that are stopped together may say so in any order.
  return [...each.filter((text) => !isEnd(text)), ...each.filter(isEnd).sort()];
}
