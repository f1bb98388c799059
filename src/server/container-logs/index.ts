export { bareContainerId, chooseContainer, type ChosenContainer } from './choose-container.ts';
export { decodeLogOptions, type DecodedOptions, type LogOptions, type LogStream } from './log-options.ts';
export { ContainerLogReader, type ContainerLogReaderDeps, type WantedLog } from './log-reader.ts';
export type { ContainerLogFiles, LogFacts, LogSources, OpenLog } from './ports.ts';
