export { SyncLoopInbox } from './sync-loop-inbox.ts';
export { SyncLoop } from './sync-loop.ts';
