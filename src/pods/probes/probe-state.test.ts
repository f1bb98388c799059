import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../base/ids.ts';
import type { ProbeType } from './ports.ts';
import type { ProbeSettings } from './probe-settings.ts';
import {
  conclude,
  counts,
  nextStep,
  type ProbeState,
  type ProbeView,
  type Probing,
  type TryResult,
} from './probe-state.ts';

const id = containerId('c0');
const other = containerId('c1');
const running = { id, state: 'running', startedAt: 100_000 } as const;

function settings(type: ProbeType, more: Partial<ProbeSettings> = {}): ProbeSettings {
  return {
    type,
    initialDelayMs: 0,
    periodMs: 10_000,
    timeoutMs: 1_000,
    successThreshold: 1,
    failureThreshold: 3,
    ...more,
  };
}

/** An agent that came up a while before the container. */
function view(more: Partial<ProbeView> = {}): ProbeView {
  return {
    monotonic: 50_000,
    wall: 101_000,
    container: running,
    started: true,
    ending: false,
    endsForGood: false,
    agentStart: { monotonic: 0, wall: 51_000 },
    lastKnown: undefined,
    share: 0.5,
    ...more,
  };
}

const afterRestart = { agentStart: { monotonic: 49_000, wall: 100_500 } } as const;
const unseen: ProbeState = { kind: 'unseen' };
const probing = (more: Partial<Probing> = {}): Probing => ({
  kind: 'probing',
  id,
  result: 'failure',
  run: 0,
  regularAt: 50_000,
  nextAt: 50_000,
  ...more,
});

interface StepCase {
  readonly type: ProbeType;
  readonly settings?: Partial<ProbeSettings>;
  readonly state?: ProbeState;
  readonly view?: Partial<ProbeView>;
  /** The state's kind, what is in force, and what is done next. */
  readonly expected: string;
}

const steps: Readonly<Record<string, StepCase>> = {
  'no instance yet': { type: 'Readiness', view: { container: undefined }, expected: 'unseen - wait 10000' },
  'liveness begins healthy': { type: 'Liveness', expected: 'probing success try' },
  'readiness begins not ready': { type: 'Readiness', expected: 'probing failure try' },
  'startup begins unknown': { type: 'Startup', view: { started: false }, expected: 'probing unknown try' },
  'a container that was only made': {
    type: 'Readiness',
    view: { container: { id, state: 'created', startedAt: 0 } },
    expected: 'seen failure wait 10000',
  },
  'one that was only made is not sick': {
    type: 'Liveness',
    view: { container: { id, state: 'created', startedAt: 0 } },
    expected: 'seen success wait 10000',
  },
  'within the initial delay': {
    type: 'Liveness',
    settings: { initialDelayMs: 5_000 },
    expected: 'seen success wait 4000',
  },
  'the initial delay is over': {
    type: 'Liveness',
    settings: { initialDelayMs: 1_000 },
    expected: 'probing success try',
  },
  'the wall was set back': {
    type: 'Liveness',
    settings: { initialDelayMs: 5_000 },
    view: { wall: 51_000 },
    expected: 'seen success wait 5000',
  },
  'the wall was set back, and our own watch says enough': {
    type: 'Liveness',
    settings: { initialDelayMs: 5_000 },
    state: { kind: 'seen', id, result: 'success', runsSince: 45_000 },
    view: { wall: 51_000 },
    expected: 'probing success try',
  },
  'the wall was set back while probing': {
    type: 'Liveness',
    settings: { initialDelayMs: 5_000 },
    state: probing({ result: 'success' }),
    view: { wall: 51_000 },
    expected: 'probing success try',
  },
  'liveness waits for the start': {
    type: 'Liveness',
    view: { started: false },
    expected: 'seen success wait 10000',
  },
  'readiness waits for the start': {
    type: 'Readiness',
    view: { started: false },
    expected: 'seen failure wait 10000',
  },
  'not its time yet': {
    type: 'Liveness',
    state: probing({ result: 'success', nextAt: 50_250, regularAt: 50_250 }),
    expected: 'probing success wait 250',
  },
  'on hold': {
    type: 'Liveness',
    state: { kind: 'held', id, result: 'failure' },
    expected: 'held failure wait 60000',
  },
  'on hold, although it ended': {
    type: 'Startup',
    state: { kind: 'held', id, result: 'success' },
    view: { container: { ...running, state: 'exited' } },
    expected: 'held success wait 60000',
  },
  'a new instance ends the hold': {
    type: 'Liveness',
    state: { kind: 'held', id: other, result: 'failure' },
    expected: 'probing success try',
  },
  'a new instance begins anew': {
    type: 'Readiness',
    state: probing({ id: other, result: 'success', last: 'failure', run: 2 }),
    expected: 'probing failure try',
  },
  'ended, and will be started again': {
    type: 'Readiness',
    state: probing({ result: 'success' }),
    view: { container: { ...running, state: 'exited' } },
    expected: 'seen failure wait 10000',
  },
  'ended for good': {
    type: 'Readiness',
    state: probing({ result: 'success' }),
    view: { container: { ...running, state: 'exited' }, endsForGood: true },
    expected: 'over failure end',
  },
  'lost by the runtime, which is no end': {
    type: 'Readiness',
    state: probing({ result: 'success' }),
    view: { container: { ...running, state: 'unknown' }, endsForGood: true },
    expected: 'seen failure wait 10000',
  },
  'the pod goes: liveness ends well': {
    type: 'Liveness',
    state: { kind: 'held', id, result: 'failure' },
    view: { ending: true },
    expected: 'over success end',
  },
  'the pod goes: what has not started stays so': {
    type: 'Startup',
    state: probing({ result: 'unknown' }),
    view: { ending: true, started: false },
    expected: 'over unknown end',
  },
  'the pod goes: what has started stays so': {
    type: 'Startup',
    state: { kind: 'held', id, result: 'success' },
    view: { ending: true },
    expected: 'over success end',
  },
  'the pod goes before anything was seen': {
    type: 'Startup',
    view: { ending: true, container: undefined },
    expected: 'over success end',
  },
  'the pod goes: readiness goes on': {
    type: 'Readiness',
    state: probing({ result: 'success' }),
    view: { ending: true },
    expected: 'probing success try',
  },
  'over stays over': {
    type: 'Liveness',
    state: { kind: 'over', id, result: 'success' },
    view: { container: { ...running, id: other } },
    expected: 'over success end',
  },

  'after a restart of the agent, ready stays ready': {
    type: 'Readiness',
    view: { ...afterRestart, lastKnown: { ready: true, started: true } },
    expected: 'probing success wait 5000',
  },
  'after a restart, not ready is tried at once': {
    type: 'Readiness',
    view: { ...afterRestart, lastKnown: { ready: false, started: true } },
    expected: 'probing failure try',
  },
  'after a restart, started stays started': {
    type: 'Startup',
    view: { ...afterRestart, lastKnown: { ready: false, started: true } },
    expected: 'held success wait 60000',
  },
  'after a restart, not started is tried at once': {
    type: 'Startup',
    view: { ...afterRestart, started: false, lastKnown: { ready: false, started: false } },
    expected: 'probing unknown try',
  },
  'after a restart without a known readiness': {
    type: 'Readiness',
    view: afterRestart,
    expected: 'probing failure try',
  },
  'after a restart, liveness begins at its part of the period': {
    type: 'Liveness',
    view: afterRestart,
    expected: 'probing success wait 5000',
  },
  'an old container, and the agent has been up for a period': {
    type: 'Liveness',
    view: { agentStart: { monotonic: 40_000, wall: 100_500 } },
    expected: 'probing success try',
  },
  'a young container of a young agent does not wait': {
    type: 'Liveness',
    view: { agentStart: { monotonic: 49_000, wall: 99_000 } },
    expected: 'probing success try',
  },
  'what is said of a container of this run is not believed': {
    type: 'Readiness',
    view: { lastKnown: { ready: true, started: true } },
    expected: 'probing failure try',
  },
};

for (const [name, entry] of Object.entries(steps)) {
  test(`step: ${name}`, () => {
    const { state, next } = nextStep(entry.state ?? unseen, settings(entry.type, entry.settings), view(entry.view));
    const result = 'result' in state ? state.result : '-';
    const done = next.kind === 'wait' ? `wait ${next.ms}` : next.kind;
    assert.equal(`${state.kind} ${result} ${done}`, entry.expected);
  });
}

test('a second step changes nothing', () => {
  for (const { type, settings: more, state, view: seen } of Object.values(steps)) {
    const once = nextStep(state ?? unseen, settings(type, more), view(seen));
    assert.deepEqual(nextStep(once.state, settings(type, more), view({ ...seen, lastKnown: undefined })), once);
  }
});

/** S success, F failure, e error, i inconclusive; lower-case f is an extra try that failed. */
const tries: Readonly<Record<string, TryResult>> = {
  S: 'success',
  F: 'failure',
  f: 'failure',
  e: 'nothing',
  i: 'inconclusive',
};

interface RunCase {
  readonly type: ProbeType;
  readonly settings?: Partial<ProbeSettings>;
  readonly from?: Probing['result'];
  readonly tries: string;
  /** What is in force after each try; `!` where probing stops. */
  readonly expected: string;
}

const runs: Readonly<Record<string, RunCase>> = {
  'a success makes ready': { type: 'Readiness', tries: 'S', expected: 'S' },
  'three failures in a row': { type: 'Readiness', from: 'success', tries: 'FFF', expected: 'SSF' },
  'a success between starts the count anew': {
    type: 'Readiness',
    from: 'success',
    tries: 'FFSFFF',
    expected: 'SSSSSF',
  },
  'successes below their threshold': {
    type: 'Readiness',
    settings: { successThreshold: 2 },
    tries: 'SFSS',
    expected: 'FFFS',
  },
  'liveness failure holds': { type: 'Liveness', from: 'success', tries: 'FFF', expected: 'SSF!' },
  'liveness success does not hold': { type: 'Liveness', from: 'success', tries: 'SS', expected: 'SS' },
  'startup success holds': { type: 'Startup', from: 'unknown', tries: 'FS', expected: 'US!' },
  'startup failure holds': { type: 'Startup', from: 'unknown', tries: 'FFF', expected: 'UUF!' },
  'a threshold of one': {
    type: 'Liveness',
    settings: { failureThreshold: 1 },
    from: 'success',
    tries: 'F',
    expected: 'F!',
  },
  'errors neither count nor break a run': { type: 'Liveness', from: 'success', tries: 'FeFeF', expected: 'SSSSF!' },
  'neither do tries without a conclusion': {
    type: 'Liveness',
    from: 'success',
    tries: 'iFiiFiF',
    expected: 'SSSSSSF!',
  },
  'extra tries that fail do not count': {
    type: 'Startup',
    from: 'unknown',
    tries: 'FfffffFfF',
    expected: 'UUUUUUUUF!',
  },
};

for (const [name, entry] of Object.entries(runs)) {
  test(`conclude: ${name}`, () => {
    const using = settings(entry.type, entry.settings);
    let state: ProbeState = probing({ result: entry.from ?? 'failure' });
    let said = '';
    let at = 50_000;
    for (const letter of entry.tries) {
      assert.ok(state.kind === 'probing');
      at += 10_000;
      const due: Probing = { ...state, nextAt: at, regularAt: letter === 'f' ? at + 1_000 : at };
      state = conclude(due, using, tries[letter]!, at);
      const letterOf = { success: 'S', failure: 'F', unknown: 'U' } as const;
      said += 'result' in state ? letterOf[state.result] : '-';
      if (state.kind === 'held') said += '!';
    }
    assert.equal(said, entry.expected);
  });
}

/** The times of the tries, from the first, and whether each counts, when each takes no time. */
function schedule(type: ProbeType, more: Partial<ProbeSettings>, results: readonly TryResult[]): readonly string[] {
  const using = settings(type, more);
  let { state } = nextStep(unseen, using, view({ started: type !== 'Startup' }));
  const times: string[] = [];
  for (const result of results) {
    assert.ok(state.kind === 'probing');
    times.push(`${state.nextAt - 50_000}${counts(state) ? '' : ' extra'}`);
    state = conclude(state, using, result, state.nextAt);
  }
  return times;
}

const fails = (count: number): readonly TryResult[] => Array.from({ length: count }, () => 'failure' as const);

test('readiness and startup are tried early until the period is reached', () => {
  const first = ['0', '100 extra', '300 extra', '700 extra', '1500 extra', '3100 extra', '6300 extra'];
  const expected = [...first, '10000', '20000'];
  assert.deepEqual(schedule('Readiness', {}, fails(9)), expected);
  assert.deepEqual(schedule('Startup', { failureThreshold: 9 }, fails(9)), expected);
});

test('the first success ends the early tries', () => {
  const results: readonly TryResult[] = ['failure', 'failure', 'success', 'failure', 'failure'];
  assert.deepEqual(schedule('Readiness', {}, results), ['0', '100 extra', '300 extra', '10000', '20000']);
});

test('no early tries for liveness, nor for periods of a second', () => {
  assert.deepEqual(schedule('Liveness', { failureThreshold: 9 }, fails(3)), ['0', '10000', '20000']);
  assert.deepEqual(schedule('Readiness', { periodMs: 1_000 }, fails(3)), ['0', '1000', '2000']);
});

test('no early tries for a container that the agent inherited', () => {
  const { state } = nextStep(unseen, settings('Readiness'), view(afterRestart));
  assert.ok(state.kind === 'probing');
  const after = conclude(state, settings('Readiness'), 'failure', 50_000);
  assert.ok(after.kind === 'probing');
  assert.equal(after.nextAt, 60_000);
});

test('a try without conclusion is made again within a second', () => {
  const results: readonly TryResult[] = ['inconclusive', 'failure', 'failure'];
  assert.deepEqual(schedule('Liveness', { failureThreshold: 9 }, results), ['0', '1000', '11000']);
});

test('a try that outlasts its period is followed at once, and missed ones are not made up for', () => {
  const using = settings('Liveness', { periodMs: 1_000, failureThreshold: 9 });
  const late = conclude(probing({ result: 'success' }), using, 'failure', 54_500);
  assert.ok(late.kind === 'probing');
  assert.equal(late.nextAt, 54_500);
  const next = conclude(late, using, 'failure', 54_510);
  assert.ok(next.kind === 'probing');
  assert.equal(next.nextAt, 55_500);
});
