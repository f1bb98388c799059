export { containerdEvents } from './containerd-events.ts';
export type { ContainerdEvent } from './to-event.ts';
