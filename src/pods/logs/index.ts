export { containerLogsOf, linkName, type ContainerLog } from './container-log.ts';
export { formatLogLine, formatLogTime, parseLogLine, type CriLogLine } from './cri-log-line.ts';
export { LogLinks, type LogLinksDeps } from './log-links.ts';
export { LogRotation, type LogRotationDeps, type LogSettings } from './log-rotation.ts';
export type { ContainerLogs, LinkFiles, LogFiles, LogRuntime, LogWatch, TailFiles } from './ports.ts';
export { readLogTail, type TailLimits } from './read-log-tail.ts';
