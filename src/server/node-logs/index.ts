export { decodeLogQuery, type DecodedQuery, type QueryOptions, type ServiceQuery } from './log-query.ts';
export { filePage, type FilePagesDeps } from './file-pages.ts';
export { journalCommand } from './journal-command.ts';
export type { JournalRunner, LogEntry, NodeLogFile, NodeLogFiles, NodeLogFolder, ProgramEnd } from './ports.ts';
export { ServiceLogs, type ServiceLogsDeps } from './service-logs.ts';
