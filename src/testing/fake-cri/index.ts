export {
  exitAfter,
  failsToStart,
  ignoresTerm,
  oomAfter,
  runsUntilStopped,
  says,
  stopsSlowly,
  type Behaviour,
  type LifeStep,
  type OutputLine,
} from './behaviour.ts';
export type { FakeCall } from './engine.ts';
export type { ExecOutcome } from './execs.ts';
export { createFakeCri, fakeCriTransport, type FakeCri, type FakeCriDeps } from './fake-cri.ts';
export { fileLogs, type FakeLogSink } from './logs.ts';
export { serveFakeCri, type ServedFakeCri } from './serve.ts';
export type { FakeContainer, FakeSandbox } from './state.ts';
