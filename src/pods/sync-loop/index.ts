export { SyncLoopInbox, type SyncLoopMessage } from './sync-loop-inbox.ts';
export { SyncLoop, type SyncLoopDeps } from './sync-loop.ts';
