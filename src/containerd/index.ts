export { containerdEvents, type ContainerdEvents, type ContainerdEventsDeps } from './containerd-events.ts';
export type { ContainerdEvent, ContainerdEventKind } from './to-event.ts';
