export { containerLogsOf, type ContainerLog } from './container-log.ts';
export { parseLogLine, type CriLogLine } from './cri-log-line.ts';
export { LogLinks } from './log-links.ts';
export { LogRotation, type LogRotationDeps, type LogSettings } from './log-rotation.ts';
export type { LinkFiles, LogFiles, LogWatch } from './ports.ts';
export { readLogTail } from './read-log-tail.ts';
