import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containerId } from '../../base/ids.ts';
import type { ObservedContainerState } from '../../model/observed-pod.ts';
import type { ProbeType } from './ports.ts';
import type { ProbeSettings } from './probe-settings.ts';
import {
  conclude,
  counts,
  initialResult,
  nextStep,
  type ProbeState,
  type ProbeView,
  type TryResult,
} from './probe-state.ts';

const settings: fc.Arbitrary<ProbeSettings> = fc.record({
  type: fc.constantFrom<ProbeType>('Liveness', 'Readiness', 'Startup'),
  initialDelayMs: fc.constantFrom(0, 3_000),
  periodMs: fc.constantFrom(1_000, 10_000),
  timeoutMs: fc.constant(1_000),
  successThreshold: fc.integer({ min: 1, max: 3 }),
  failureThreshold: fc.integer({ min: 1, max: 4 }),
});

/** What happens to a worker: time passes, the container changes, the pod goes, a try ends. */
type Happening =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'container'; readonly state: ObservedContainerState }
  | { readonly kind: 'replaced' }
  | { readonly kind: 'started' }
  | { readonly kind: 'said'; readonly result: TryResult };

const said = fc.constantFrom<TryResult>('success', 'failure', 'failure', 'nothing', 'inconclusive');
const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('said' as const), result: said }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(50, 1_000, 10_000) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('container' as const),
        state: fc.constantFrom<ObservedContainerState>('running', 'exited', 'unknown'),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'replaced' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'started' as const }) },
  ),
  { maxLength: 60 },
);

interface Moment {
  readonly before: ProbeState;
  readonly after: ProbeState;
  readonly view: ProbeView;
  /** What was tried, and whether it counted. */
  readonly tried?: { readonly result: TryResult; readonly counted: boolean };
}

/** Plays a worker's life, and reports every change of state. */
function play(using: ProbeSettings, story: readonly Happening[]): readonly Moment[] {
  const moments: Moment[] = [];
  let number = 0;
  let seen: ProbeView = {
    monotonic: 100_000,
    wall: 200_000,
    container: { id: containerId('c0'), state: 'running', startedAt: 200_000 },
    started: false,
    ending: false,
    endsForGood: false,
    agentStart: { monotonic: 0, wall: 100_000 },
    lastKnown: undefined,
    share: 0.5,
  };
  let state: ProbeState = { kind: 'unseen' };
  const stepNow = (): boolean => {
    const step = nextStep(state, using, seen);
    moments.push({ before: state, after: step.state, view: seen });
    state = step.state;
    return step.next.kind === 'try';
  };
  stepNow();
  for (const event of story) {
    if (event.kind === 'time') seen = { ...seen, monotonic: seen.monotonic + event.ms, wall: seen.wall + event.ms };
    if (event.kind === 'started') seen = { ...seen, started: true };
    if (event.kind === 'container') seen = { ...seen, container: { ...seen.container!, state: event.state } };
    if (event.kind === 'replaced') {
      const container = { id: containerId(`c${++number}`), state: 'running', startedAt: seen.wall } as const;
      seen = { ...seen, container, started: false };
    }
    const due = stepNow();
    if (event.kind === 'said' && due && state.kind === 'probing') {
      const tried = { result: event.result, counted: counts(state) };
      const after = conclude(state, using, event.result, seen.monotonic);
      moments.push({ before: state, after, view: seen, tried });
      state = after;
    }
  }
  return moments;
}

const idOf = (state: ProbeState): string | undefined => ('id' in state ? state.id : undefined);
const resultOf = (state: ProbeState): string | undefined => ('result' in state ? state.result : undefined);

test('tries change a result only after as many equal ones in a row as the threshold asks for', () => {
  fc.assert(
    fc.property(settings, happenings, (using, story) => {
      let row: TryResult[] = [];
      for (const { before, after, tried } of play(using, story)) {
        if (idOf(before) !== idOf(after) || after.kind === 'seen') row = [];
        if (tried === undefined) continue;
        const { result, counted } = tried;
        if (result === 'success' || (result === 'failure' && counted)) row.push(result);
        if (resultOf(before) === resultOf(after)) continue;
        const now = resultOf(after);
        const threshold = now === 'success' ? using.successThreshold : using.failureThreshold;
        assert.ok(row.length >= threshold);
        assert.ok(row.slice(-threshold).every((entry) => entry === now));
      }
    }),
  );
});

test('without a try, only a new or a dead instance changes what is in force', () => {
  fc.assert(
    fc.property(settings, happenings, (using, story) => {
      for (const { before, after, view, tried } of play(using, story)) {
        if (tried !== undefined || resultOf(before) === resultOf(after)) continue;
        const isNew = idOf(before) !== idOf(after) && resultOf(after) === initialResult(using.type);
        assert.ok(isNew || (view.container?.state !== 'running' && resultOf(after) === 'failure'));
      }
    }),
  );
});

test('what is held stays as it is until there is a new instance, and never asks for a try', () => {
  fc.assert(
    fc.property(settings, happenings, (using, story) => {
      for (const { before, after, view, tried } of play(using, story)) {
        if (after.kind === 'held') {
          assert.ok(using.type === 'Startup' || (using.type === 'Liveness' && after.result === 'failure'));
          assert.equal(nextStep(after, using, { ...view, monotonic: view.monotonic + 1e9 }).next.kind, 'wait');
        }
        if (before.kind !== 'held') continue;
        assert.equal(tried, undefined);
        if (idOf(after) === before.id) assert.deepEqual(after, before);
      }
    }),
  );
});

test('liveness and readiness are never tried before the start, within the delay, or on what does not run', () => {
  fc.assert(
    fc.property(settings, happenings, (using, story) => {
      for (const { view, tried } of play(using, story)) {
        if (tried === undefined) continue;
        assert.ok(view.started || using.type === 'Startup');
        assert.equal(view.container?.state, 'running');
        assert.ok(view.wall - (view.container?.startedAt ?? 0) >= using.initialDelayMs);
      }
    }),
  );
});

test('there is always a next step, within a minute', () => {
  fc.assert(
    fc.property(settings, happenings, (using, story) => {
      for (const { after, view } of play(using, story)) {
        const { next } = nextStep(after, using, view);
        assert.ok(next.kind === 'try' || (next.kind === 'wait' && next.ms > 0 && next.ms <= 60_000));
      }
    }),
  );
});
