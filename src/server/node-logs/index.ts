export type { JournalRunner, NodeLogFiles } from './ports.ts';
