import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sandboxId } from '../../base/ids.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import { anInstance, aSandbox, observedPod } from '../../testing/pods.ts';
import { computeEvictable, computeEvictableSandboxes, unitsOf, type GcPolicy } from './compute-evictable.ts';
import { computePrune } from './compute-prune.ts';

const now = 100_000;
const lenient: GcPolicy = { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 };

/** `a3-` is the dead instance 3 of container a, made at second 3; `+` runs, `o` was made only, `?` is lost. */
function instance(text: string): ObservedContainer {
  const [, name = '', attempt = '', mark = ''] = /^(\w)(\d+)(.)$/.exec(text) ?? [];
  const state = ({ '-': 'exited', '+': 'running', o: 'created', '?': 'unknown' } as const)[mark] ?? 'exited';
  const logPath = `/logs/${name}/${attempt}.log`;
  return anInstance(name, { id: text, attempt: Number(attempt), state, createdAt: Number(attempt) * 1_000, logPath });
}

/** Pods as lists of instances, newest first. */
function evicted(pods: readonly string[], policy: Partial<GcPolicy> = {}, removable: readonly number[] = []): string {
  const units = pods.flatMap((text, index) =>
    unitsOf(observedPod([], text.split(' ').map(instance), `uid-${index}`), removable.includes(index)),
  );
  return computeEvictable(units, { ...lenient, ...policy }, now)
    .map(({ id }) => id)
    .join(' ');
}

describe('per container', () => {
  const cases: readonly (readonly [string, string, Partial<GcPolicy>?])[] = [
    ['a1-', ''],
    ['a3- a2- a1-', 'a1- a2-'],
    ['a3+ a2- a1-', 'a1-'],
    ['a2- b2- a1- b1-', 'a1- b1-'],
    ['a3- a2- a1-', 'a1-', { maxPerContainer: 2 }],
    ['a3- a2- a1-', 'a1- a2- a3-', { maxPerContainer: 0 }],
    ['a3+ a2- a1-', 'a1- a2-', { maxPerContainer: 0 }],
    ['a3- a2- a1-', '', { maxPerContainer: -1 }],
    // What was made and has no successor is about to be started, whatever the policy.
    ['a2o a1-', '', { maxPerContainer: 1 }],
    ['a2o a1-', 'a1-', { maxPerContainer: 0 }],
    ['a3+ a2o a1-', 'a2o'],
    ['a3- a2o a1-', 'a1- a2o'],
    ['a3+ a2o a1-', 'a2o', { maxPerContainer: -1 }],
    // The runtime lost track: it may run.
    ['a3? a2? a1-', '', { maxPerContainer: 1 }],
  ];
  for (const [pod, expected, policy] of cases) {
    test(`${pod} loses ${expected || 'nothing'} by ${JSON.stringify(policy ?? {})}`, () =>
      assert.equal(evicted([pod], policy), expected));
  }
});

test('what is younger than the least age stays and takes no place', () => {
  // Of 97 and older: made at 1, 2 and 95 seconds.
  const pod = 'a99- a98- a95- a2- a1-';
  assert.equal(evicted([pod], { minAgeMs: 3_000 }), 'a1- a2-');
  assert.equal(evicted([pod], { minAgeMs: 98_000 }), 'a1-');
  assert.equal(evicted([pod], { minAgeMs: 99_001 }), '');
});

describe('on the node', () => {
  test('each container keeps an equal part, one at least', () => {
    const pods = ['a4- a3- a2- a1-', 'b8- b7-', 'c9-'];
    const policy = { maxPerContainer: -1 };
    assert.equal(evicted(pods, { ...policy, maxTotal: 7 }), '');
    assert.equal(evicted(pods, { ...policy, maxTotal: 6 }), 'a1- a2-');
    assert.equal(evicted(pods, { ...policy, maxTotal: 3 }), 'a1- a2- a3- b7-');
  });

  test('and if that is too much, the oldest of all go', () => {
    const pods = ['a1-', 'b3-', 'c4- c2-'];
    assert.equal(evicted(pods, { maxTotal: 2 }), 'a1- c2-');
    assert.equal(evicted(pods, { maxTotal: 0 }), 'a1- c2- b3- c4-');
  });

  test('containers without dead instances have no part', () => {
    assert.equal(evicted(['a3- a2- a1-', 'b9+'], { maxPerContainer: -1, maxTotal: 2 }), 'a1-');
  });
});

describe('a pod that has ended for good', () => {
  test('loses all, without a part in what the node keeps', () => {
    assert.equal(evicted(['a2- a1-', 'b3-'], { maxTotal: 1 }, [0]), 'a1- a2-');
  });

  test('loses nothing that runs', () => {
    assert.equal(evicted(['a2+ a1-'], {}, [0]), 'a1-');
  });
});

test('a log goes with its container, unless its successor writes to it', () => {
  const logs = (containers: readonly ObservedContainer[]): unknown =>
    computeEvictable(unitsOf(observedPod([], containers), false), lenient, now).map(({ id, logPath }) => [id, logPath]);
  assert.deepEqual(logs(['a2-', 'a1-'].map(instance)), [['a1-', '/logs/a/1.log']]);
  const successor = anInstance('a', { id: 'new', logPath: '/logs/a/1.log' });
  assert.deepEqual(logs([successor, instance('a1o')]), [['a1o', undefined]]);
});

describe('sandboxes', () => {
  const ready = aSandbox('s2', { attempt: 2 });
  const dead = (attempt: number): ReturnType<typeof aSandbox> =>
    aSandbox(`s${attempt}`, { attempt, state: 'notReady' });
  const inSandbox = (id: string, sandbox: string): ObservedContainer =>
    anInstance('main', { id, state: 'exited', sandboxId: sandboxId(sandbox) });
  const none = new Set<never>();

  test('that are dead and empty go, but for the newest', () => {
    assert.deepEqual(computeEvictableSandboxes(observedPod([ready, dead(1), dead(0)], []), none, false), ['s1', 's0']);
    assert.deepEqual(computeEvictableSandboxes(observedPod([dead(1), dead(0)], []), none, false), ['s0']);
  });

  test('that are ready stay, though there should be only one', () => {
    assert.deepEqual(computeEvictableSandboxes(observedPod([ready, aSandbox('s1')], []), none, false), []);
  });

  test('that hold a container stay until it goes', () => {
    const pod = observedPod([ready, dead(1)], [inSandbox('c', 's1')]);
    assert.deepEqual(computeEvictableSandboxes(pod, none, false), []);
    assert.deepEqual(computeEvictableSandboxes(pod, new Set(pod.containers.map(({ id }) => id)), false), ['s1']);
  });

  test('of a pod that has ended for good all go', () => {
    assert.deepEqual(computeEvictableSandboxes(observedPod([dead(1), dead(0)], []), none, true), ['s1', 's0']);
  });
});

describe('pruning one pod', () => {
  const pod = observedPod(
    [aSandbox('s1', { attempt: 1 }), aSandbox('s0', { state: 'notReady' })],
    ['a4-', 'a3-', 'a2o', 'a1-'].map(instance),
  );
  const pruned = (maxPerContainer: number): unknown => {
    const { containers, sandboxes } = computePrune(pod, maxPerContainer);
    return [containers.map(({ id }) => id).join(' '), sandboxes];
  };

  test('keeps the newest dead instance whatever the node keeps', () => {
    assert.deepEqual(pruned(1), ['a1- a2o a3-', []]);
    assert.deepEqual(pruned(0), pruned(1));
    assert.deepEqual(pruned(-1), pruned(1));
    assert.deepEqual(pruned(2), ['a1- a2o', []]);
  });

  test('takes empty sandboxes along', () => {
    const { containers } = pod;
    const moved = containers.map((container) => ({ ...container, sandboxId: sandboxId('s1') }));
    assert.deepEqual(computePrune({ ...pod, containers: moved }, 1).sandboxes, ['s0']);
  });
});
