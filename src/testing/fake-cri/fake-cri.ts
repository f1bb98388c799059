import { noCalls } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { silentLog, type Log } from '../../base/log.ts';
import {
  criOver,
  type Cri,
  type CriTimeouts,
  type CriTransport,
  type Invoke,
  type ObserveCall,
} from '../../cri/index.ts';
import { FakePrograms, type OutputLine } from './behaviour.ts';
import { containerHandlers } from './containers.ts';
import { FakeEngine, type FakeCall } from './engine.ts';
import { FakeEvents } from './events.ts';
import { execHandlers, FakeExecs } from './execs.ts';
import { FakeFaults } from './faults.ts';
import { FakeHealth, healthHandlers } from './health.ts';
import { FakeImages, imageHandlers } from './images.ts';
import { noLogs, writeOutput, type FakeLogSink } from './logs.ts';
import type { ProcessEnd } from './process.ts';
import { loseSandbox, sandboxHandlers } from './sandboxes.ts';
import { FakeState, type FakeContainer } from './state.ts';
import { FakeUsage, statsHandlers } from './usage.ts';

export interface FakeCriDeps {
  readonly clock: Clock;
  readonly log?: Log;
  readonly timeouts?: CriTimeouts;
  readonly observe?: ObserveCall;
  /** Where container output goes; dropped by default. */
  readonly logs?: FakeLogSink;
  /** Mount point that stats name. */
  readonly imageFilesystem?: string;
}

/** A whole container runtime in memory: the client's interface, the script, and the levers of a test. */
export interface FakeCri extends Cri {
  /** Every call that arrived, oldest first. */
  readonly calls: readonly FakeCall[];
  readonly state: FakeState;
  readonly programs: FakePrograms;
  readonly execs: FakeExecs;
  readonly images: FakeImages;
  readonly events: FakeEvents;
  readonly faults: FakeFaults;
  readonly usage: FakeUsage;
  readonly health: FakeHealth;
  readonly engine: FakeEngine;
  /** The runtime process dies; containers go on, as they do with containerd. */
  crash(): void;
  restart(): void;
  /** The machine restarts: nothing runs any more, and all records are still there. */
  reboot(): void;
  /** A container ends by a hand from outside; also one that cannot be killed. */
  killContainer(id: string, end?: ProcessEnd): void;
  /** The pause process of a sandbox dies. */
  killSandbox(id: string): void;
  /** A running container writes to its log. */
  say(containerId: string, ...lines: readonly OutputLine[]): void;
  /** The newest container of a name. */
  containerNamed(name: string): FakeContainer | undefined;
}

export function createFakeCri(deps: FakeCriDeps): FakeCri {
  const { clock } = deps;
  const state = new FakeState(clock);
  const programs = new FakePrograms();
  const execs = new FakeExecs();
  const images = new FakeImages(clock);
  const events = new FakeEvents(clock, state);
  const faults = new FakeFaults(clock);
  const usage = new FakeUsage();
  const health = new FakeHealth();
  const logs = deps.logs ?? noLogs;
  const imageFilesystem = deps.imageFilesystem ?? '/var/lib/fake';
  const containerDeps = { clock, state, events, health, images, programs, logs };
  const engine = new FakeEngine(
    clock,
    {
      ...healthHandlers(health),
      ...sandboxHandlers({ ...containerDeps, runtimeHandlers: health.runtimeHandlers }),
      ...containerHandlers(containerDeps),
      ...execHandlers({ clock, state, execs }),
      ...statsHandlers({ state, usage, imageFilesystem }),
      ...imageHandlers({ images, state, imageFilesystem }),
    },
    faults,
    events,
  );
  const cri = criOver(fakeCriTransport(engine), {
    calls: noCalls,
    clock,
    log: deps.log ?? silentLog,
    timeouts: deps.timeouts ?? { requestMs: 120_000 },
    observe: deps.observe,
  });
  return {
    ...cri,
    calls: engine.calls,
    state,
    programs,
    execs,
    images,
    events,
    faults,
    usage,
    health,
    engine,
    crash: () => engine.crash(),
    restart: () => engine.restart(),
    reboot() {
      engine.crash();
      for (const container of state.containers.values()) container.process?.end({ code: 255, reason: 'Unknown' });
      for (const sandbox of state.sandboxes.values()) loseSandbox({ events }, sandbox);
      engine.restart();
    },
    killContainer: (id, end = { code: 137 }) => state.container(id).process?.end(end),
    killSandbox: (id) => loseSandbox({ events }, state.sandbox(id)),
    say: (id, ...lines) => writeOutput({ logs, state }, state.container(id), lines),
    containerNamed: (name) => state.newestNamed(name),
  };
}

/** Messages go through their wire form, so that nobody shares an object with the runtime, or sends what gRPC would not. */
export function fakeCriTransport(engine: FakeEngine): CriTransport {
  const never = new AbortController().signal;
  const invoke: Invoke = async ({ verb, method, request, options }) => {
    const received = method.requestDeserialize(method.requestSerialize(request));
    type Answer = ReturnType<typeof method.responseDeserialize>;
    const answer = await engine.handle<typeof received, Answer>(verb, received, options.signal ?? never);
    return method.responseDeserialize(method.responseSerialize(answer));
  };
  return { endpoint: 'fake', invoke, events: (signal) => engine.events(signal), close() {} };
}
