import type { Clock } from '../base/clock.ts';
import { containerId, podUid } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import type { Container, Probe } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../model/observed-pod.ts';
import { ProbeManager, type LastKnown, type ProbeOutcome, type ProbeTarget } from '../pods/probes/index.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryDecisions } from './memory-decisions.ts';
import { aContainer, anInstance, aPod, aSandbox, observedPod } from './pods.ts';
import { seededRandom } from './seeded-random.ts';

/** One pod with probes, a scripted prober, and levers for what is observed and for the event loop itself. */

export const uid = podUid('uid-1');
export const ok: ProbeOutcome = { kind: 'success', output: '' };
export const sick: ProbeOutcome = { kind: 'failure', output: 'sick' };

type ProbeAnswer = (target: ProbeTarget, signal: AbortSignal) => ProbeOutcome | Promise<ProbeOutcome>;

interface ProbeWorld {
  readonly clock: FakeClock;
  readonly probes: ProbeManager;
  /** What was tried and when, since the world began: `live@0`. */
  readonly tries: string[];
  readonly events: string[];
  readonly decisions: MemoryDecisions;
  readonly measured: string[];
  readonly changes: string[];
  /** What each kind of probe answers; `ok` unless set. */
  readonly answers: Map<string, ProbeAnswer>;
  /** Time goes on without the event loop. */
  readonly stall: (ms: number) => void;
  readonly see: (...containers: readonly ObservedContainer[]) => void;
}

interface ProbeWorldOptions {
  readonly lastKnown?: LastKnown;
  readonly podIp?: string;
}

export function probeWorld(options: ProbeWorldOptions = {}): ProbeWorld {
  const clock = new FakeClock();
  const began = clock.monotonic();
  const pods = new Map<string, ObservedPod>();
  const tries: string[] = [];
  const events: string[] = [];
  const decisions = new MemoryDecisions();
  const measured: string[] = [];
  const changes: string[] = [];
  const answers = new Map<string, ProbeAnswer>();
  let stalled = 0;
  const lagging: Clock = {
    now: () => clock.now() + stalled,
    monotonic: () => clock.monotonic() + stalled,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, callback) => clock.after(ms, callback),
  };
  const probes = new ProbeManager({
    ownRestartRules: false,
    clock: lagging,
    random: seededRandom(1),
    log: silentLog,
    prober: async (target, signal) => {
      const kind = target.probe.exec?.command?.[0] ?? '?';
      tries.push(`${kind}@${Math.round(clock.monotonic() - began)}`);
      return (answers.get(kind) ?? (() => ok))(target, signal);
    },
    observations: { get: (of) => pods.get(of), podIp: () => options.podIp ?? '10.0.0.2' },
    decisions,
    events: { record: (_pod, event) => events.push(`${event.reason} ${event.message} ${event.fieldPath}`) },
    metrics: {
      observe: (type, result, pod, container) => measured.push(`${type} ${result} ${pod.name}/${container}`),
      forget: (type, pod, container) => measured.push(`${type} gone ${pod.name}/${container}`),
    },
    lastKnown: () => options.lastKnown,
    onChange: (of) => changes.push(`${of}@${Math.round(clock.monotonic() - began)}`),
  });
  return {
    clock,
    probes,
    tries,
    events,
    decisions,
    measured,
    changes,
    answers,
    stall: (ms) => void (stalled += ms),
    see: (...containers) => void pods.set(uid, observedPod([aSandbox('s0')], containers)),
  };
}

export const probe = (kind: string, more: Partial<Probe> = {}): Probe => ({ exec: { command: [kind] }, ...more });

export function podWith(
  container: Partial<Container>,
  more: { readonly deleted?: boolean; readonly policy?: string } = {},
): DesiredPod {
  return aPod({
    ...(more.deleted === true && { metadata: { deletionTimestamp: '2025-01-01T00:00:00Z' } }),
    spec: { containers: [aContainer('main', container)], restartPolicy: more.policy ?? 'Always' },
  });
}

/** An instance that starts now, after the agent. */
export const startsNow = (clock: FakeClock, more: Parameters<typeof anInstance>[1] = {}): ObservedContainer =>
  anInstance('main', { startedAt: clock.now(), ...more });

export const first = containerId('main-0');
export const second = containerId('main-1');
