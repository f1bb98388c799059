import type { PodUid } from '../../base/ids.ts';
import type { KnownItem } from './known-listing.ts';
import type { RuntimeEvent, EventState } from './ports.ts';

/**
 * What an event means next to the last listing:
 * - `known`: nothing new, most often because the agent itself caused it
 * - `news`: the pod must be inspected
 * - `unknown`: no listing has shown yet which pod the container belongs to
 */
export type EventClass =
  | { readonly type: 'known' }
  | { readonly type: 'news'; readonly uid: PodUid }
  | { readonly type: 'unknown'; readonly id: string };

/** The order of states. Of a container that the runtime lost track of it is only known that it was created. */
const progress: Readonly<Record<string, number>> = {
  unknown: 1,
  created: 1,
  running: 2,
  'sandbox ready': 2,
  exited: 3,
  'sandbox notReady': 3,
  removed: 4,
};

/** Whether the listed state is the one that the event reports, or a later one. */
export function hasReached(listed: string, reported: EventState): boolean {
  return (progress[listed] ?? 0) >= (progress[reported] ?? 0);
}

/** `item` is what is listed under the event's id, if anything is. */
export function classifyEvent(event: RuntimeEvent, item: KnownItem | undefined): EventClass {
  if (item !== undefined) {
    const known = event.state !== undefined && hasReached(item.state, event.state);
    return known ? { type: 'known' } : { type: 'news', uid: item.uid };
  }
  if (event.state === 'removed') return { type: 'known' };
  // An unconfirmed creation is the first event of a container: the runtime may not list it yet, and more events will come.
  if (event.state === 'created' && event.unconfirmed === true) return { type: 'known' };
  if (event.uid !== undefined) return { type: 'news', uid: event.uid };
  return event.containerId === undefined ? { type: 'known' } : { type: 'unknown', id: event.containerId };
}
