export {
  exitAfter,
  FakePrograms,
  failsToStart,
  ignoresTerm,
  oomAfter,
  runsUntilStopped,
  says,
  stopsSlowly,
  type Behaviour,
  type BehaviourRule,
  type Exit,
  type Failure,
  type LifeStep,
  type OutputLine,
  type StartOf,
} from './behaviour.ts';
export type { FakeCall } from './engine.ts';
export type { FakeEvents } from './events.ts';
export type { ExecOutcome, ExecRule, FakeExecs } from './execs.ts';
export { createFakeCri, fakeCriTransport, type FakeCri, type FakeCriDeps } from './fake-cri.ts';
export type { FailureOptions, FakeFaults, FaultOptions } from './faults.ts';
export type { FakeHealth } from './health.ts';
export type { FakeImage, FakeImages, FakeImageSpec, PullOutcome } from './images.ts';
export { fileLogs, noLogs, type FakeLogSink } from './logs.ts';
export type { ProcessEnd } from './process.ts';
export { serveFakeCri, type ServedFakeCri, type ServeOptions } from './serve.ts';
export type { FakeContainer, FakeSandbox, FakeState } from './state.ts';
export type { FakeUsage, Usage } from './usage.ts';
