import type { ListenerName } from '../route.ts';

/**
 * Whether a listener shows masks in place of values that may be secrets. Every user of the machine gets to the plain
 * port; the socket opens only for the agent's own user, and on the secured port access was decided. In a cluster the
 * plain port shows what the Go kubelet shows there.
 */
export function hidesValues(listener: ListenerName, isStandalone: boolean): boolean {
  return listener === 'readOnly' && isStandalone;
}
